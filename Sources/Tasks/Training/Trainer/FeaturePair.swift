import RetintGraph
import RetintLayers

/// A module of the student and one of the teacher, whose outputs should agree.
struct FeaturePair {
    typealias Comparison = TrainingConfiguration.DistillationSettings.FeatureLoss

    let student, teacher: String
    let comparison: Comparison

    /// The largest number of positions of an output for ``Comparison/pairwise``: all pairs are
    /// compared.
    static let maximumPositions = 1024

    /// The name of the teacher's output as an input of the student's graph.
    var input: String { "teacher.\(teacher)" }

    /// Pairs as listed in `distillation.features`: `up8=up8`, or `context` for the same name.
    static func list(_ settings: TrainingConfiguration.DistillationSettings) -> [FeaturePair] {
        (settings.features ?? "").split(whereSeparator: { " ,".contains($0) }).map { part in
            let names = part.split(separator: "=", maxSplits: 1).map(String.init)
            return FeaturePair(
                student: names[0], teacher: names[names.count - 1],
                comparison: settings.featureLoss)
        }
    }

    /// The output of the teacher's module.
    ///
    /// - Throws: ``TrainingError`` unless both modules exist and their outputs can be compared.
    func match(in teacherGraph: Graph, _ studentGraph: Graph) throws(TrainingError) -> Tensor {
        guard let studentOutput = studentGraph.output(ofModule: student),
            let teacherOutput = teacherGraph.output(ofModule: teacher)
        else {
            throw refused("there is no such module; see the summary of the network")
        }
        let shapes =
            "the output of \(student) is \(studentOutput.shape), that of the teacher's "
            + "\(teacher) \(teacherOutput.shape)"
        switch comparison {
        case .mse:
            guard studentOutput.shape == teacherOutput.shape else {
                throw refused(
                    "\(shapes); name modules of one shape, or set distillation.feature_loss to "
                        + "pairwise, for which channels may differ")
            }
        case .pairwise:
            guard studentOutput.hasPositions(of: teacherOutput) else {
                throw refused("\(shapes); name modules whose height and width are the same")
            }
            guard studentOutput.positions <= Self.maximumPositions else {
                throw refused(
                    "\(shapes); pairwise compares at most \(Self.maximumPositions) positions: "
                        + "name modules of a coarser stage, or reduce data.crop")
            }
        }
        return teacherOutput
    }

    /// The difference of both outputs, rank 0.
    func loss(_ feature: Tensor, _ target: Tensor) -> Tensor {
        switch comparison {
        case .mse: mseLoss(feature, target)
        case .pairwise: pairwiseLoss(feature, target)
        }
    }

    private func refused(_ problem: String) -> TrainingError {
        TrainingError(at: "distillation.features", "\(student)=\(teacher): \(problem)")
    }
}

extension Tensor {
    /// H·W of [N, C, H, W].
    fileprivate var positions: Int { shape.dimensions.dropFirst(2).reduce(1, *) }

    fileprivate func hasPositions(of other: Tensor) -> Bool {
        shape.rank == 4 && other.shape.rank == 4 && shape[0] == other.shape[0]
            && shape[2] == other.shape[2] && shape[3] == other.shape[3]
    }
}

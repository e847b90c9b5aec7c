import RetintGraph
import RetintLayers
import RetintTensors

extension TrainingConfiguration {
    /// The difference of the outputs of modules from those of the teacher's modules.
    public struct FeatureDistillation: LossTerm {
        /// How outputs of modules are compared.
        public enum Comparison: String, CaseIterable, Hashable, Sendable {
            /// The mean squared difference of outputs of the same shape.
            case mse
            /// The mean squared difference of the similarities of all pairs of positions; channels
            /// may differ.
            case pairwise
        }

        /// Pairs of modules whose outputs should agree: `student=teacher`, or one name for both.
        public var pairs: String?
        /// How those outputs are compared.
        public var comparison = Comparison.mse
        /// The weight of that difference.
        public var weight = 1.0

        /// The defaults.
        public init() {}

        static var fields: [TrainingConfiguration.Field] {
            [
                .init(
                    "distillation.features", optional: \.distillation.features.pairs,
                    .names("modules, or student=teacher"),
                    "modules whose outputs imitate the teacher's: \"up8=up8 context\", or a list "
                        + "of them"),
                .init(
                    "distillation.feature_loss", \.distillation.features.comparison, .any,
                    "compares values, or how alike two positions are, whatever the channels"),
                .init(
                    "distillation.feature_weight", \.distillation.features.weight,
                    .range(0...1e6), "weight of their difference"),
            ]
        }

        func prepared(_ setup: LossSetup) -> [PreparedLoss] {
            let names = (pairs ?? "").split(whereSeparator: { " ,".contains($0) })
            return names.map { text in
                let pair = FeaturePair(String(text), comparison)
                return PreparedLoss(reference: .teacher, inputs: [pair.input]) { context in
                    try pair.loss(context) * Float(weight)
                }
            }
        }
    }
}

/// A module of the student and one of the teacher, whose outputs should agree.
private struct FeaturePair {
    let student, teacher: String
    let comparison: TrainingConfiguration.FeatureDistillation.Comparison

    /// The largest number of positions of an output for pairwise comparison: of all pairs.
    static let maximumPositions = 1024

    /// - Parameter text: `up8=up8`, or `context` for the same name.
    init(_ text: String, _ comparison: TrainingConfiguration.FeatureDistillation.Comparison) {
        let names = text.split(separator: "=", maxSplits: 1).map(String.init)
        (student, teacher, self.comparison) = (names[0], names[names.count - 1], comparison)
    }

    var input: StepInput { .teacherFeature(module: teacher) }

    /// The difference of both outputs, rank 0.
    ///
    /// - Throws: ``TrainingError`` unless both modules exist and their outputs can be compared.
    func loss(_ context: LossContext) throws(TrainingError) -> Tensor {
        guard let feature = context.graph.output(ofModule: student),
            let target = context.teacher[input]
        else {
            throw refused("there is no such module; see the summary of the network")
        }
        try requireComparable(feature.shape, target.shape)
        switch comparison {
        case .mse: return mseLoss(feature, target)
        case .pairwise: return pairwiseLoss(feature, target)
        }
    }

    private func requireComparable(_ own: Shape, _ other: Shape) throws(TrainingError) {
        let shapes =
            "the output of \(student) is \(own), that of the teacher's \(teacher) \(other)"
        switch comparison {
        case .mse:
            guard own == other else {
                throw refused(
                    "\(shapes); name modules of one shape, or set distillation.feature_loss to "
                        + "pairwise, for which channels may differ")
            }
        case .pairwise:
            guard own.hasPositions(of: other) else {
                throw refused("\(shapes); name modules whose height and width are the same")
            }
            guard own.positions <= Self.maximumPositions else {
                throw refused(
                    "\(shapes); pairwise compares at most \(Self.maximumPositions) positions: "
                        + "name modules of a coarser stage, or reduce data.crop")
            }
        }
    }

    private func refused(_ problem: String) -> TrainingError {
        TrainingError(at: "distillation.features", "\(student)=\(teacher): \(problem)")
    }
}

extension Shape {
    /// H·W of [N, C, H, W].
    fileprivate var positions: Int { dimensions.dropFirst(2).reduce(1, *) }

    fileprivate func hasPositions(of other: Shape) -> Bool {
        rank == 4 && other.rank == 4 && self[0] == other[0] && self[2] == other[2]
            && self[3] == other[3]
    }
}

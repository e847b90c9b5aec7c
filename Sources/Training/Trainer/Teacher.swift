import Checkpoints
import Colorizers
import Engine
import Layers
import Models
import Photos
import TensorGraph

/// A model that the trained network imitates: its colors, and where configured its distribution
/// over colors and the outputs of its modules (Hinton et al., "Distilling the Knowledge in a Neural
/// Network", 2015). Its weights stay fixed.
final class Teacher {
    private enum Source {
        /// Any model, of which only the colors are used.
        case model(ModelProgram)
        /// A checkpoint's network, with the outputs of some of its modules.
        case network(Program)
    }

    private let source: Source
    private let configuration: TrainingConfiguration
    private let pairs: [FeaturePair]
    private static let colors = "teacher"
    private static let logits = "teacher_logits"

    /// - Parameters:
    ///   - batch: the crops that it is given at a time.
    ///   - student: the student's prediction, in its graph.
    /// - Throws: the errors of reading models; ``TrainingError`` if the model does not run on the
    ///   crops, or one of the two lacks what is compared.
    init(
        _ path: String, _ configuration: TrainingConfiguration, batch: Int,
        student: ColorPrediction
    ) throws {
        var configuration = configuration
        configuration.batch = batch
        self.configuration = configuration
        pairs = try FeaturePair.list(configuration.distillation.features ?? "")
        guard pairs.isEmpty, configuration.distillation.logits == 0 else {
            source = .network(try Self.network(path, configuration, pairs, student))
            return
        }
        source = .model(try Self.program(path, configuration))
    }

    private static func program(
        _ path: String, _ configuration: TrainingConfiguration
    ) throws -> ModelProgram {
        let side = configuration.data.crop
        do {
            return try Model(contentsOf: path).program(
                batch: configuration.batch, height: side, width: side,
                options: CompileOptions(threads: configuration.threads))
        } catch let error as ModelError where error.kind == .size {
            throw TrainingError(
                at: "distillation.teacher",
                "\(error); name a checkpoint, which runs at any batch and crop, or set batch and "
                    + "data.crop to what the package takes")
        }
    }

    private static func network(
        _ path: String, _ configuration: TrainingConfiguration, _ pairs: [FeaturePair],
        _ student: ColorPrediction
    ) throws -> Program {
        guard Checkpoint.isCheckpoint(path) else {
            throw TrainingError(
                at:
                    "distillation.teacher",
                "\(path) is not a checkpoint; only a checkpoint provides logits and features")
        }
        let checkpoint = try Checkpoint(contentsOf: path)
        let (graph, side) = (Graph(), configuration.data.crop)
        let lightness = graph.input("lightness", [configuration.batch, 1, side, side])
        let prediction = try checkpoint.makeColorizer().prediction(lightness)
        var outputs: [(name: String, value: Tensor)] = [
            (Self.colors, prediction.ab / LabScaling.colorRange)
        ]
        if configuration.distillation.logits > 0 {
            guard let logits = prediction.logits, logits.shape == student.logits?.shape else {
                throw TrainingError(
                    at:
                        "distillation.logits",
                    "the teacher and the network do not both classify over the same bins at the "
                        + "same size; set it to 0")
            }
            outputs.append((Self.logits, logits))
        }
        for pair in pairs {
            outputs.append((pair.input, try pair.match(in: graph, student.ab.graph)))
        }
        let program = try Program(
            outputs: outputs, options: CompileOptions(threads: configuration.threads))
        try program.load(checkpoint.variables)
        return program
    }

    /// The inputs of the step's graph: `teacher`, the teacher's a and b divided by 110,
    /// [N, 2, H, W], and its logits and features where they are compared. It sees photos before
    /// they became old: what it tells about them is better then.
    func inputs(for batch: Batch) throws -> [String: TensorData] {
        let lightness = batch.undamagedLightness ?? batch.lightness
        switch source {
        case .network(let program):
            return try program.run(["lightness": lightness])
        case .model(let program):
            let colors = try program.predict(lightness: lightness.scalars)
            let scalars = colors.scalars.map { $0 / LabScaling.colorRange }
            return [Self.colors: TensorData(shape: colors.shape, scalars: scalars)]
        }
    }

    /// The loss of the student against the teacher, rank 0.
    func loss(of student: ColorPrediction) throws -> Tensor {
        let (graph, settings) = (student.ab.graph, configuration.distillation)
        let estimate = student.ab / LabScaling.colorRange
        var loss = configuration.loss.regression(
            estimate, graph.input(Self.colors, estimate.shape)
        ).mean()
        if settings.logits > 0, let logits = student.logits {
            let inverseTemperature = 1 / Float(settings.temperature)
            let targets = softmax(
                graph.input(Self.logits, logits.shape) * inverseTemperature, axis: 1)
            // Gradients shrink by T², which the factor compensates, as in Hinton et al.
            let factor = Float(settings.logits * settings.temperature * settings.temperature)
            loss = loss + crossEntropy(logits * inverseTemperature, targets) * factor
        }
        for pair in pairs {
            guard let feature = graph.output(ofModule: pair.student) else { continue }
            let target = graph.input(pair.input, feature.shape)
            loss = loss + mseLoss(feature, target) * Float(settings.featureWeight)
        }
        return loss
    }
}

/// Two modules whose outputs are to agree.
private struct FeaturePair {
    let student, teacher: String

    var input: String { "teacher.\(teacher)" }

    /// Pairs as listed in `distillation.features`: `up8=up8`, or `context` for the same name.
    static func list(_ text: String) throws(TrainingError) -> [FeaturePair] {
        text.split(whereSeparator: { " ,".contains($0) }).map { part in
            let names = part.split(separator: "=", maxSplits: 1).map(String.init)
            return FeaturePair(student: names[0], teacher: names[names.count - 1])
        }
    }

    /// The output of the teacher's module.
    ///
    /// - Throws: ``TrainingError`` unless both modules exist and their outputs have the same shape.
    func match(in teacherGraph: Graph, _ studentGraph: Graph) throws(TrainingError) -> Tensor {
        guard let studentOutput = studentGraph.output(ofModule: student),
            let teacherOutput = teacherGraph.output(ofModule: teacher)
        else {
            throw TrainingError(
                at:
                    "distillation.features",
                "\(student)=\(teacher): there is no such module; see the summary of the network")
        }
        guard studentOutput.shape == teacherOutput.shape else {
            throw TrainingError(
                at:
                    "distillation.features",
                "the output of \(student) is \(studentOutput.shape), that of the teacher's "
                    + "\(teacher) \(teacherOutput.shape); name modules of one shape")
        }
        return teacherOutput
    }
}

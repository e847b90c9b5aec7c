import RetintArchitectures
import RetintCheckpoints
import RetintEngine
import RetintGraph
import RetintLayers
import RetintPhotoData
import RetintRuntime
import RetintTensors

/// A model that the trained network imitates: its colors and, if configured, its distribution
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
    /// Each with the shape of the teacher's output.
    private var features: [(pair: FeaturePair, shape: Shape)] = []
    private static let colors = "teacher"
    private static let logits = "teacher_logits"

    /// - Parameters:
    ///   - batch: the number of crops at a time.
    ///   - student: the student's prediction, in its graph.
    /// - Throws: the errors of reading models; ``TrainingError`` if the model does not run on the
    ///   crops, or one of the two networks lacks a compared output.
    init(
        _ path: String, _ configuration: TrainingConfiguration, batch: Int,
        student: ColorPrediction
    ) throws {
        var configuration = configuration
        configuration.batch = batch
        self.configuration = configuration
        let pairs = FeaturePair.list(configuration.distillation)
        guard pairs.isEmpty, configuration.distillation.logits == 0 else {
            let network = try Self.network(path, configuration, pairs, student)
            (source, features) = (.network(network.program), network.features)
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
    ) throws -> (program: Program, features: [(FeaturePair, Shape)]) {
        guard Checkpoint.isCheckpoint(path) else {
            throw TrainingError(
                at:
                    "distillation.teacher",
                "\(path) is not a checkpoint; only a checkpoint provides logits and features")
        }
        let checkpoint = try Checkpoint(contentsOf: path)
        let (graph, side) = (Graph(), configuration.data.crop)
        let lightness = graph.input("lightness", [configuration.batch, 1, side, side])
        let prediction = try checkpoint.network.make().prediction(lightness)
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
        let targets = try pairs.map { ($0, try $0.match(in: graph, student.ab.graph)) }
        outputs += targets.map { ($0.input, $1) }
        let program = try Program(
            outputs: outputs, options: CompileOptions(threads: configuration.threads))
        try program.load(checkpoint.variables)
        return (program, targets.map { ($0, $1.shape) })
    }

    /// The inputs of the step's graph: `teacher`, the teacher's a and b divided by 110,
    /// [N, 2, H, W], and its logits and features if they are compared. It gets undamaged photos,
    /// because its predictions are better for them.
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
        for (pair, shape) in features {
            guard let feature = graph.output(ofModule: pair.student) else { continue }
            let target = graph.input(pair.input, shape)
            loss = loss + pair.loss(feature, target) * Float(settings.featureWeight)
        }
        return loss
    }
}

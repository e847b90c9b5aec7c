import Checkpoints
import Colorizers
import Engine
import Layers
import Retint
import TensorGraph

/// A model whose colors, and if asked for its distribution over colors and inner results, a smaller
/// one learns from (Hinton et al., "Distilling the Knowledge in a Neural Network", 2015). It infers,
/// and does not learn.
final class Teacher {
    /// What runs: any model for its colors alone, a network whose inside is looked at as well.
    private enum Source {
        case model(ModelProgram)
        case network(Program)
    }

    private let source: Source
    private let configuration: TrainingConfiguration
    private let pairs: [FeaturePair]
    private static let colors = "teacher"
    private static let logits = "teacher_logits"

    /// - Parameter student: what the student answers, in its graph.
    /// - Throws: What reading the model throws; `ModelError` if it does not run on the crops;
    ///   ``ConfigurationError`` if the two do not have what is to be compared.
    init(
        _ path: String, _ configuration: TrainingConfiguration, student: ColorPrediction
    ) throws {
        self.configuration = configuration
        pairs = try FeaturePair.list(configuration.distillation.features ?? "")
        guard pairs.isEmpty, configuration.distillation.logits == 0 else {
            source = .network(try Self.network(path, configuration, pairs, student))
            return
        }
        let side = configuration.data.crop
        source = .model(
            try Model(contentsOf: path).program(
                batch: configuration.batch, height: side, width: side,
                options: CompileOptions(threads: configuration.threads)))
    }

    private static func network(
        _ path: String, _ configuration: TrainingConfiguration, _ pairs: [FeaturePair],
        _ student: ColorPrediction
    ) throws -> Program {
        guard Checkpoint.isCheckpoint(path) else {
            throw ConfigurationError(
                "distillation.teacher",
                "\(path) is no checkpoint; logits and features are to be had from one alone")
        }
        let checkpoint = try Checkpoint(contentsOf: path)
        let (graph, side) = (Graph(), configuration.data.crop)
        let lightness = graph.input("lightness", [configuration.batch, 1, side, side])
        let prediction = try checkpoint.makeColorizer().prediction(lightness)
        var outputs: [(name: String, value: Tensor)] = [
            (Self.colors, prediction.ab / Batch.abScale)
        ]
        if configuration.distillation.logits > 0 {
            guard let logits = prediction.logits, logits.shape == student.logits?.shape else {
                throw ConfigurationError(
                    "distillation.logits",
                    "the teacher and the network do not both classify "
                        + "over the same bins at the same size; set it to 0")
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

    /// What the step's graph takes: `teacher`, a and b divided by 110 as the teacher sees them,
    /// [N, 2, H, W], and the rest that is compared.
    func inputs(for batch: Batch) throws -> [String: TensorData] {
        switch source {
        case .network(let program):
            return try program.run(["lightness": batch.lightness])
        case .model(let program):
            let pictures = try program.predict(lightness: batch.lightness.scalars)
            let scalars = pictures.flatMap { $0.a + $0.b }.map { $0 / Batch.abScale }
            return [Self.colors: TensorData(shape: batch.target.shape, scalars: scalars)]
        }
    }

    /// How far the student is from the teacher, rank 0.
    func loss(of student: ColorPrediction) throws -> Tensor {
        let (graph, wanted) = (student.ab.graph, configuration.distillation)
        let estimate = student.ab / Batch.abScale
        var loss = configuration.loss.regression(
            estimate, graph.input(Self.colors, estimate.shape)
        ).mean()
        if wanted.logits > 0, let logits = student.logits {
            let heat = 1 / Float(wanted.temperature)
            let taught = softmax(graph.input(Self.logits, logits.shape) * heat, axis: 1)
            // Gradients shrink by T², which is made up for, as Hinton et al. do.
            let factor = Float(wanted.logits * wanted.temperature * wanted.temperature)
            loss = loss + crossEntropy(logits * heat, taught) * factor
        }
        for pair in pairs {
            guard let feature = graph.output(ofModule: pair.student) else { continue }
            let taught = graph.input(pair.input, feature.shape)
            loss = loss + mseLoss(feature, taught) * Float(wanted.featureWeight)
        }
        return loss
    }
}

/// Two modules whose outputs are to be alike.
private struct FeaturePair {
    let student, teacher: String

    var input: String { "teacher.\(teacher)" }

    /// Pairs as `distillation.features` lists them: `up8=up8`, or `context` for the same name.
    static func list(_ text: String) throws(ConfigurationError) -> [FeaturePair] {
        text.split(whereSeparator: { " ,".contains($0) }).map { part in
            let names = part.split(separator: "=", maxSplits: 1).map(String.init)
            return FeaturePair(student: names[0], teacher: names[names.count - 1])
        }
    }

    /// The teacher's output.
    ///
    /// - Throws: ``ConfigurationError`` unless both have it, of one shape.
    func match(in teacherGraph: Graph, _ studentGraph: Graph) throws(ConfigurationError) -> Tensor {
        guard let mine = studentGraph.output(ofModule: student),
            let other = teacherGraph.output(ofModule: teacher)
        else {
            throw ConfigurationError(
                "distillation.features",
                "\(student)=\(teacher): there is no such module; see the summary of the network")
        }
        guard mine.shape == other.shape else {
            throw ConfigurationError(
                "distillation.features",
                "\(student) gives \(mine.shape) and the teacher's \(teacher) \(other.shape); "
                    + "name modules of one shape")
        }
        return other
    }
}

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
        /// A checkpoint's network, with what is asked of it.
        case network(Program, inputs: [StepInput])
    }

    private let source: Source
    /// What was requested of the teacher besides colors.
    let shapes: [StepInput: Shape]

    /// - Parameters:
    ///   - inputs: the inputs of the step.
    ///   - batch: the number of crops at a time.
    ///   - side: of a crop, in pixels.
    /// - Throws: the errors of reading models; ``TrainingError`` if the model does not run on the
    ///   crops, or if it is not a checkpoint and more than its colors are needed.
    init(
        _ path: String, _ inputs: [StepInput], batch: Int, side: Int, execution: Execution
    ) throws {
        let path = ShippedCheckpoint.path(of: path)
        guard inputs.contains(where: { $0 != .teacherColors }) else {
            source = .model(try Self.program(path, batch, side, execution))
            shapes = [:]
            return
        }
        guard (try? ModelFormat(ofFileAt: path)) == .checkpoint else {
            throw TrainingError(
                at: "distillation.teacher",
                "\(path) is not a checkpoint; only a checkpoint provides logits and features")
        }
        let checkpoint = try Checkpoint(contentsOf: path)
        let outputs = Self.outputs(
            inputs, of: try checkpoint.network.make(), lightness: [batch, 1, side, side])
        let program = try Program(
            outputs: outputs.map { ($0.input.name, $0.value) },
            options: execution.compileOptions)
        try program.load(checkpoint.variables)
        source = .network(program, inputs: outputs.map(\.input))
        shapes = Dictionary(uniqueKeysWithValues: outputs.map { ($0.input, $0.value.shape) })
    }

    private static func program(
        _ path: String, _ batch: Int, _ side: Int, _ execution: Execution
    ) throws -> ModelProgram {
        do {
            return try Model(contentsOf: path, execution: execution).program(
                batch: batch, height: side, width: side)
        } catch let error as ModelError where error.kind == .size {
            throw TrainingError(
                at: "distillation.teacher",
                "\(error); name a checkpoint, which runs at any batch and crop, or set batch and "
                    + "data.crop to the values that the package takes")
        }
    }

    /// Those of the inputs that the network provides.
    private static func outputs(
        _ inputs: [StepInput], of network: any ColorizerNetwork, lightness shape: Shape
    ) -> [(input: StepInput, value: Tensor)] {
        let graph = Graph()
        let prediction = network.prediction(graph.input(StepInput.lightness.name, shape))
        let colors = prediction.ab / LabScaling.colorRange
        return inputs.compactMap { input in
            let value: Tensor? =
                switch input {
                case .teacherColors: colors
                case .teacherLogits: prediction.logits
                case .teacherFeature(let module): graph.output(ofModule: module)
                case .lightness, .target, .classes, .classWeights, .hints, .mask: nil
                }
            return value.map { (input, $0) }
        }
    }

    /// The inputs of the step's graph that come from the teacher. It gets undamaged photos, because
    /// its predictions are better for them.
    func inputs(for batch: Batch) throws -> [StepInput: TensorData] {
        let lightness = batch.undamagedLightness ?? batch.lightness
        switch source {
        case .network(let program, let inputs):
            let results = try program.run([StepInput.lightness.name: lightness])
            return inputs.reduce(into: [:]) { $0[$1] = results[$1.name] }
        case .model(let program):
            let colors = try program.predict(lightness: lightness.scalars)
            let scalars = colors.scalars.map { $0 / LabScaling.colorRange }
            return [.teacherColors: TensorData(shape: colors.shape, scalars: scalars)]
        }
    }
}

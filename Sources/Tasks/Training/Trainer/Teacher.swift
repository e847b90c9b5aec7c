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
    /// What it provides.
    private let shapes: [StepInput: Shape]

    /// A teacher that runs before each step.
    ///
    /// - Parameters:
    ///   - inputs: what the step asks of it.
    ///   - batch: the number of crops at a time.
    ///   - side: of a crop, in pixels.
    /// - Throws: the errors of reading models; ``TrainingError`` if the model does not run on the
    ///   crops, or if it is not a checkpoint and more than its colors are needed.
    init(
        _ path: String, _ inputs: [StepInput], batch: Int, side: Int, execution: Execution
    ) throws {
        guard inputs.contains(where: { $0 != .teacherColors }) else {
            let path = ShippedCheckpoint.path(of: path)
            source = .model(try Self.program(path, batch, side, execution))
            shapes = [.teacherColors: [batch, 2, side, side]]
            return
        }
        let network = try TeacherNetwork(path)
        let lightness = Graph().input(StepInput.lightness.name, [batch, 1, side, side])
        let outputs = network.outputs(inputs, for: lightness)
        let program = try Program(
            outputs: outputs.map { ($0.key.name, $0.value) }, options: execution.compileOptions)
        try program.load(network.variables)
        source = .network(program, inputs: Array(outputs.keys))
        shapes = outputs.mapValues(\.shape)
    }

    /// What it provides, as inputs of a step's graph.
    fileprivate func tensors(in graph: Graph) -> [StepInput: Tensor] {
        shapes.reduce(into: [:]) { $0[$1.key] = graph.input($1.key.name, $1.value) }
    }

    /// Whether a teacher has a network that can be part of a step: that of a checkpoint.
    static func hasNetwork(_ path: String) -> Bool {
        (try? ModelFormat(ofFileAt: ShippedCheckpoint.path(of: path))) == .checkpoint
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

    /// The inputs of the step's graph that come from the teacher. It gets undamaged photos, because
    /// its predictions are better for them.
    func inputs(for batch: Batch) throws -> [StepInput: TensorData] {
        let lightness = batch.undamagedLightness
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

/// What a teacher provides in the graph of a step.
struct TeacherOutputs {
    let tensors: [StepInput: Tensor]
    /// The teacher, if it runs before each step; nil if its network is part of the step.
    let teacher: Teacher?
    /// The weights of a network that is part of the step.
    let variables: [String: TensorData]

    /// - Throws: the errors of ``Teacher``.
    init(
        of path: String, _ objective: Objective, _ prediction: TrainingPrediction,
        _ execution: Execution
    ) throws {
        let (lightness, inputs) = (prediction.lightness, objective.teacherInputs)
        guard objective.feed.takesPixels, !objective.feed.needsLightness else {
            let teacher = try Teacher(
                path, inputs, batch: lightness.shape[0], side: lightness.shape[3],
                execution: execution)
            (self.teacher, variables) = (teacher, [:])
            tensors = teacher.tensors(in: lightness.graph)
            return
        }
        let network = try TeacherNetwork(path)
        let undamaged = objective.feed.undamagedLightness(
            lightness.graph, StepShapes(lightness: lightness.shape))
        (teacher, variables) = (nil, network.stepVariables)
        tensors = network.stepOutputs(inputs, for: undamaged)
    }
}

/// A teacher that is a checkpoint.
private struct TeacherNetwork {
    private let network: any ColorizerNetwork
    /// Its weights.
    let variables: [String: TensorData]
    private static let scope = "teacher"

    /// - Throws: the errors of reading checkpoints; ``TrainingError`` if it is not one.
    init(_ path: String) throws {
        guard Teacher.hasNetwork(path) else {
            throw TrainingError(
                at: "distillation.teacher",
                "\(path) is not a checkpoint; only a checkpoint provides logits and features")
        }
        let checkpoint = try Checkpoint(contentsOf: ShippedCheckpoint.path(of: path))
        (network, variables) = (try checkpoint.network.make(), checkpoint.variables)
    }

    /// Its weights as ``stepOutputs(_:for:)`` names them.
    var stepVariables: [String: TensorData] {
        variables.reduce(into: [:]) { $0["\(Self.scope).\($1.key)"] = $1.value }
    }

    /// Those of the inputs that the network provides, in the graph of the step that learns from it.
    ///
    /// - Parameter lightness: [N, 1, H, W].
    func stepOutputs(_ inputs: [StepInput], for lightness: Tensor) -> [StepInput: Tensor] {
        lightness.graph.frozen(as: Self.scope) {
            lightness.graph.inModule(Self.scope) {
                outputs(inputs, for: lightness, modules: "\(Self.scope).")
            }
        }
    }

    /// Those of the inputs that the network provides.
    ///
    /// - Parameters:
    ///   - lightness: [N, 1, H, W].
    ///   - modules: the prefix of the network's modules.
    func outputs(
        _ inputs: [StepInput], for lightness: Tensor, modules: String = ""
    ) -> [StepInput: Tensor] {
        let prediction = network.prediction(lightness)
        let colors = prediction.ab / LabScaling.colorRange
        return inputs.reduce(into: [:]) { outputs, input in
            outputs[input] =
                switch input {
                case .teacherColors: colors
                case .teacherLogits: prediction.logits
                case .teacherFeature(let module):
                    lightness.graph.output(ofModule: modules + module)
                case .crops, .damagedCrops, .damage, .tones, .lightness, .target, .classes,
                    .classWeights, .hints, .mask:
                    nil
                }
        }
    }
}

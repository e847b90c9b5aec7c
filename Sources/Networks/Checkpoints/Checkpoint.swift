import RetintArchitectures
import RetintGraph
import RetintLayers
import RetintTensorFiles
import RetintTensors

/// A network between two training steps: its architecture and options, its weights, and the
/// state of the training.
///
/// ```swift
/// let checkpoint = try Checkpoint(contentsOf: "best.h5")
/// print(checkpoint.architecture, checkpoint.options)  // mobile-unet ["width": "0.5"]
/// try checkpoint.folded().write(to: "folded.h5")
/// ```
public struct Checkpoint: Hashable, Sendable {
    /// The architecture's name in the registry: `eccv16`, `siggraph17`, `mobile-unet`.
    public var architecture: String
    /// The options that are not the architecture's defaults, by name, as text: `width`, `0.5`.
    public var options: [String: String]
    /// The network itself, if it was read from a file and is not in the registry.
    public var definition: NetworkDefinition?
    /// Parameters and buffers by PyTorch name, including the int64 `num_batches_tracked`.
    public var state: StateDict
    /// The optimizer's variables by name (`optimizer.exp_avg.…`); empty if there are none.
    public var optimizer: StateDict
    /// The trainer's state as JSON, opaque here; nil for a network that is not in training.
    public var training: String?

    /// Creates a checkpoint from its parts. It is not checked that the state fits the architecture.
    public init(
        architecture: String, options: [String: String] = [:],
        definition: NetworkDefinition? = nil, state: StateDict, optimizer: StateDict = StateDict(),
        training: String? = nil
    ) {
        self.architecture = architecture
        self.options = options
        self.definition = definition
        self.state = state
        self.optimizer = optimizer
        self.training = training
    }

    /// Creates a network with random initial weights, the same for the same seed.
    ///
    /// - Throws: `ColorizerError` for an unknown architecture, ``CheckpointError`` for an option
    ///   that it does not have.
    public init(architecture: String, options: [String: String] = [:], seed: UInt64) throws {
        self.init(architecture: architecture, options: options, state: StateDict())
        let spec = StateSpec(of: try makeColorizer())
        state = StateDict(initial: spec, seed: seed)
    }

    /// Creates the network, with named parameters.
    ///
    /// - Throws: `ColorizerError` for an unknown architecture or a value out of range,
    ///   ``CheckpointError`` for an option that no architecture has.
    public func makeColorizer() throws -> any ColorizerNetwork {
        try RetintArchitectures.makeColorizer(
            architecture, options: ColorizerOptions(options, definition: definition))
    }

    /// The weights that a program loads: ``state`` without its counters.
    public var variables: [String: TensorData] { state.variables }

    /// The optimizer's state that a program loads.
    public var optimizerVariables: [String: TensorData] { optimizer.variables }
}

extension StateDict {
    /// A network's initial values.
    package init(initial spec: StateSpec, seed: UInt64) {
        self.init()
        let values = spec.initialValues(seed: seed)
        for entry in spec.entries {
            self[entry.name] =
                values[entry.name].map { StoredTensor($0) } ?? StoredTensor(integer: 0)
        }
    }

    /// The tensors of floats.
    package var variables: [String: TensorData] {
        var values: [String: TensorData] = [:]
        for (name, tensor) in self { values[name] = tensor.tensorData }
        return values
    }
}

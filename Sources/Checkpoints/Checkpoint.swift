import Colorizers
import Layers
import TensorFiles
import TensorGraph

/// A network as it stands between two steps of its training: which architecture it is, its
/// weights, and whatever it takes to train on.
public struct Checkpoint: Hashable, Sendable {
    /// The architecture's name in the registry: `eccv16`, `siggraph17`, `mobile-unet`.
    public var architecture: String
    /// What was chosen about the architecture (`width`, `class_head`); empty for the defaults.
    public var options: [String: String]
    /// Parameters and buffers by PyTorch name, the int64 `num_batches_tracked` among them.
    public var state: StateDict
    /// The optimizer's variables by name (`optimizer.exp_avg.…`); empty if there are none.
    public var optimizer: StateDict
    /// The trainer's own state as JSON, opaque here; nil for a network that is not in training.
    public var training: String?

    public init(
        architecture: String, options: [String: String] = [:], state: StateDict,
        optimizer: StateDict = StateDict(), training: String? = nil
    ) {
        self.architecture = architecture
        self.options = options
        self.state = state
        self.optimizer = optimizer
        self.training = training
    }

    /// A network with fresh random weights, the same for the same seed.
    ///
    /// - Throws: `ColorizerError` for an unknown architecture, ``CheckpointError`` for an option
    ///   that it does not have.
    public init(architecture: String, options: [String: String] = [:], seed: UInt64) throws {
        self.init(architecture: architecture, options: options, state: StateDict())
        let spec = StateSpec(of: try makeColorizer())
        state = StateDict(initial: spec, seed: seed)
    }

    /// The network itself, with its parameters named.
    ///
    /// - Throws: `ColorizerError` for an unknown architecture or width, ``CheckpointError`` for
    ///   an option that no architecture has.
    public func makeColorizer() throws -> any ColorizerNetwork {
        try Colorizers.makeColorizer(architecture, options: ColorizerOptions(options))
    }

    /// The weights as a program loads them: all of ``state`` but its counters.
    public var variables: [String: TensorData] { state.variables }

    /// The optimizer's state as a program loads it.
    public var optimizerVariables: [String: TensorData] { optimizer.variables }
}

extension StateDict {
    /// What a network starts from.
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

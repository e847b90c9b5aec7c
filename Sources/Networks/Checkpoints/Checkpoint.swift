public import RetintArchitectures
import RetintGraph
import RetintLayers
import RetintTensorFiles
import RetintTensors

/// A network between two training steps: which network it is, its weights, and the state of the
/// training.
///
/// ```swift
/// let checkpoint = try Checkpoint(contentsOf: "best.h5")
/// print(checkpoint.network)  // mobile-unet, width 0.5
/// try checkpoint.folded().write(to: "folded.h5")
/// ```
public struct Checkpoint: Hashable, Sendable {
    /// Which network it is; its weights are in ``state``.
    public var network: NetworkDescription
    /// Parameters and buffers by PyTorch name, including the int64 `num_batches_tracked`.
    public var state: StateDict
    /// The optimizer's variables by name (`optimizer.exp_avg.…`); empty if there are none.
    public var optimizer: StateDict
    /// The trainer's state as JSON, opaque here; nil for a network that is not in training.
    public var training: String?

    /// Creates a checkpoint from its parts. It is not checked that the state fits the network.
    public init(
        _ network: NetworkDescription, state: StateDict, optimizer: StateDict = StateDict(),
        training: String? = nil
    ) {
        self.network = network
        self.state = state
        self.optimizer = optimizer
        self.training = training
    }

    /// Creates a network with random initial weights, the same for the same seed.
    ///
    /// - Throws: the errors of `NetworkDescription.make()`.
    public init(_ network: NetworkDescription, seed: UInt64) throws {
        let spec = StateSpec(of: try network.make())
        self.init(network, state: StateDict(initial: spec, seed: seed))
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

public import RetintArchitectures
public import RetintFiles
import RetintGraph
import RetintLayers
import RetintTensorFiles
public import RetintTensors

/// A network whose weights are read or created when they are needed.
///
/// ```swift
/// let source = try CheckpointSource(contentsOf: "best.h5")
/// try program.load(source.variables)  // from the file to the program, one tensor after another
/// ```
public struct CheckpointSource: Sendable {
    /// Which network it is.
    public let network: NetworkDescription
    /// The weights that a program loads, by PyTorch name.
    public let variables: [String: any TensorSource]
    private let read: @Sendable () throws -> Checkpoint

    /// Provides the weights of a checkpoint in memory.
    public init(_ checkpoint: Checkpoint) {
        (network, variables) = (checkpoint.network, checkpoint.variables)
        read = { checkpoint }
    }

    /// Opens a checkpoint, or reads an `.onnx` file. The names and shapes of all tensors are
    /// checked against the architecture; the weights of a checkpoint are read when they are needed.
    ///
    /// The file stays open. Another file may replace it at its path; if the file itself is
    /// modified, reading a weight fails.
    ///
    /// - Throws: the errors of `Checkpoint.init(contentsOf:)`.
    public init(contentsOf path: some PathConvertible) throws {
        let path = path.filePath.string
        self = try ModelFormat.reader(ofNetworkAt: path).open(path)
    }

    init(_ file: CheckpointFile) throws {
        (network, variables) = (file.head.network, try file.variables())
        read = { try file.checkpoint() }
    }

    /// Creates a network with random initial weights, as `Checkpoint.init(_:seed:)`.
    ///
    /// - Throws: the errors of that function.
    public init(_ network: NetworkDescription, seed: UInt64) throws {
        self.network = network
        let spec = StateSpec(of: try network.make())
        variables = Dictionary(
            uniqueKeysWithValues: spec.tensors.map { entry in
                let values = ComputedTensor(shape: entry.shape) { entry.initialValues(seed: seed) }
                return (entry.name, values)
            })
        read = { try Checkpoint(network, seed: seed) }
    }

    /// The same weights with the network's colors of a style; nil if it has none of that style.
    package func inStyle(_ style: ColorStyle) -> CheckpointSource? {
        network.inStyle(style).map { CheckpointSource(self, as: $0) }
    }

    /// - Parameter network: has the same parameters as that of the source.
    private init(_ source: CheckpointSource, as network: NetworkDescription) {
        (self.network, variables) = (network, source.variables)
        read = {
            var checkpoint = try source.read()
            checkpoint.network = network
            return checkpoint
        }
    }

    /// The whole checkpoint in memory, with the state of its training.
    ///
    /// - Throws: the errors of `Checkpoint.init(contentsOf:)` if its file cannot be read.
    public func checkpoint() throws -> Checkpoint { try read() }

    /// Folds each re-parameterized convolution into one, see `Checkpoint.folded()`.
    ///
    /// - Throws: the errors of ``checkpoint()`` and `NetworkDescription.make()`.
    public func folded() throws -> CheckpointSource { try madeForInference().source }

    /// The source ``folded()``, and its network.
    package func madeForInference() throws -> (
        source: CheckpointSource, network: any ColorizerNetwork
    ) {
        let trained = try network.make()
        guard trained.canBeFolded else { return (self, trained) }
        let (checkpoint, folded) = try checkpoint().madeForInference()
        return (CheckpointSource(checkpoint), folded)
    }
}

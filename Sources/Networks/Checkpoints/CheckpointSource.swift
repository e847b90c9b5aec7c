import RetintArchitectures
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
    /// The architecture's name in the registry: `eccv16`, `siggraph17`, `mobile-unet`.
    public let architecture: String
    /// The options that are not the architecture's defaults, by name, as text: `width`, `0.5`.
    public let options: [String: String]
    /// The network itself, if it was read from a file and is not in the registry.
    public let definition: NetworkDefinition?
    /// The weights that a program loads, by PyTorch name.
    public let variables: [String: any TensorSource]
    private let make: @Sendable () throws -> Checkpoint

    /// Provides the weights of a checkpoint in memory.
    public init(_ checkpoint: Checkpoint) {
        (architecture, options) = (checkpoint.architecture, checkpoint.options)
        definition = checkpoint.definition
        variables = checkpoint.variables
        make = { checkpoint }
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
        (architecture, options) = (file.head.architecture, file.head.options)
        definition = file.head.definition
        variables = try file.variables()
        make = { try file.checkpoint() }
    }

    /// Creates a network with random initial weights, as
    /// `Checkpoint.init(architecture:options:seed:)`.
    ///
    /// - Throws: the errors of that function.
    public init(architecture: String, options: [String: String] = [:], seed: UInt64) throws {
        (self.architecture, self.options, definition) = (architecture, options, nil)
        let empty = Checkpoint(architecture: architecture, options: options, state: StateDict())
        let spec = StateSpec(of: try empty.makeColorizer())
        variables = Dictionary(
            uniqueKeysWithValues: spec.tensors.map { entry in
                let values = ComputedTensor(shape: entry.shape) { entry.initialValues(seed: seed) }
                return (entry.name, values)
            })
        make = { try Checkpoint(architecture: architecture, options: options, seed: seed) }
    }

    /// The whole checkpoint in memory, with the state of its training.
    ///
    /// - Throws: the errors of `Checkpoint.init(contentsOf:)` if its file cannot be read.
    public func checkpoint() throws -> Checkpoint { try make() }

    /// Creates the network, with named parameters.
    ///
    /// - Throws: the errors of `Checkpoint.makeColorizer()`.
    public func makeColorizer() throws -> any ColorizerNetwork {
        try RetintArchitectures.makeColorizer(
            architecture, options: ColorizerOptions(options, definition: definition))
    }

    /// Folds each re-parameterised convolution into one, see `Checkpoint.folded()`.
    ///
    /// - Throws: the errors of ``checkpoint()`` and ``makeColorizer()``.
    public func folded() throws -> CheckpointSource {
        guard try makeColorizer().canBeFolded else { return self }
        return CheckpointSource(try checkpoint().folded())
    }
}

import RetintArchitectures
import RetintFiles
public import RetintMLPackage
import RetintTensorFiles

/// A file format of models or of weights, with all that depends on it.
public struct ModelFormat: Sendable {
    /// A short name, the `kind` of inspections: `mlpackage`.
    public let kind: String
    /// The name in messages: `Core ML`.
    public let title: String
    /// What a file of the format is: `a package`.
    public let noun: String
    /// The extensions of its files without the dot, the usual one first.
    public let extensions: [String]
    /// Whether what is at a path is of this format. Throws if it cannot be examined.
    let recognizes: @Sendable (_ path: String) throws -> Bool
    /// What a file holds, and how it is read.
    package let content: Content
    /// What it is written from; nil if `export` does not write it.
    public var writing: Writing?
    /// The options of `export` that mean something for it.
    public var options: Set<ModelExportOption> = []
    /// The most axes that tensors have in it; nil for any number.
    package var maximumRank: Int?
    /// Whether weights have the names by which a network is found again.
    package var namesWeights = true
    /// Throws if a folder is at a path that a file of this format must not replace; nil for a
    /// format of single files.
    var checkReplaceable: (@Sendable (_ path: String) throws(FileError) -> Void)?

    /// What a file of a format holds.
    package enum Content: Sendable {
        /// A program of Core ML's operations.
        case package(@Sendable (_ path: String) throws -> MLPackage)
        /// A network of retint.
        case checkpoint
        /// A network of another program's operators, which becomes one of retint's.
        case graph(GraphReader)
        /// Tensors by name: the weights of a network that has to be named.
        case tensors
    }

    /// What a file of a format is written from.
    public enum Writing: Sendable {
        /// A package.
        case package(PackageWriter)
        /// Tensors by name.
        case tensors
    }

    /// Writes a package to a path.
    public typealias PackageWriter =
        @Sendable (MLPackage, _ path: String, ModelWritingOptions) throws -> WrittenModel

    /// Reads a network: its form and outputs if the file does not state them.
    package typealias GraphReader =
        @Sendable (
            _ path: String, ColorFormChoice, _ outputs: [String]
        ) throws -> (checkpoint: Checkpoint, notes: [String])
}

/// How a network's file is read: its weights when they are needed, or all of it.
struct NetworkReader: Sendable {
    let open: @Sendable (_ path: String) throws -> CheckpointSource
    let read: @Sendable (_ path: String) throws -> Checkpoint

    static let checkpoint = NetworkReader(
        open: { try CheckpointSource(CheckpointFile($0)) },
        read: { try CheckpointFile($0).checkpoint() })
}

/// Options of `export` that belong together: a format takes all of a group or none.
public enum ModelExportOption: Int, CaseIterable, Sendable {
    /// The oldest system.
    case target
    /// Other forms of operations.
    case rewriting
    /// The arithmetic.
    case precision
    /// Powers of two moved between weights.
    case repair
    /// The sizes of the input.
    case sizes
    /// Several sizes of the input, or a range of them.
    case severalSizes
    /// Inputs and outputs.
    case interface
    /// Whether batch normalizations are folded.
    case folding
    /// What the author states.
    case metadata
    /// The version of the operators, and where weights are.
    case opset
    /// What becomes of folded batch normalizations.
    case foldedWeights

    /// What is chosen when a network is converted.
    public static let ofNetworks: Set<Self> = [
        .precision, .sizes, .severalSizes, .interface, .folding, .metadata,
    ]
    /// What a format takes that can store any package.
    static let ofPackages = ofNetworks.union([.repair])
}

/// How a package is written in a format of others.
public struct ModelWritingOptions: Sendable {
    /// The version of ONNX's operators; see `ONNXOptions.opset`.
    public var opset: Int?
    /// Whether weights get a file of their own.
    public var externalData = false

    /// The format's own choices.
    public init() {}
}

/// What was written.
public struct WrittenModel: Sendable {
    /// Something to say about a file.
    public enum Fact: Sendable {
        /// A text.
        case text(String)
        /// A number of things.
        case count(Int, of: String)
        /// A size in bytes.
        case bytes(Int)
    }

    /// The paths of all files and folders.
    public var files: [String]
    /// What the caller should know, a sentence each.
    public var notes: [String] = []
    /// What to say about the model.
    public var facts: [Fact]
}

extension WrittenModel {
    /// One file or folder, of which its size is said.
    init(_ path: String) throws(FileError) {
        self.init(files: [path], facts: [.bytes(try totalBytes(of: path))])
    }
}

extension ModelFormat: Hashable {
    /// Whether two formats are the same.
    public static func == (one: Self, other: Self) -> Bool { one.kind == other.kind }

    /// Hashes the format's ``kind``.
    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }
}

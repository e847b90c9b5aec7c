public import RetintFiles
import RetintLayers
public import RetintMLPackage
import RetintTensorFiles
import RetintTensors

extension ModelFormat {
    /// The format of a file or folder, by what it holds where that tells it, else by its name.
    ///
    /// - Throws: `FileError` if there is none; `TensorFileError` for a file of no format.
    public init(ofFileAt path: some PathConvertible) throws {
        let path = path.filePath.string
        let model = try Self.formats(for: .running).first { try $0.recognizes(path) }
        self = try model ?? ModelFormat(TensorFileFormat(ofFileAt: path))
    }

    /// The format of a model that is to run. What is of no other format is a checkpoint, whose
    /// reader tells what is wrong with it otherwise.
    ///
    /// - Throws: `FileError` if there is no such file.
    public init(ofModelAt path: some PathConvertible) throws {
        let path = path.filePath.string
        let others = Self.formats(for: .running).filter { $0 != .checkpoint }
        self = try others.first { try $0.recognizes(path) } ?? .checkpoint
    }

    /// The format of a network that `import` reads: that of a graph, or a checkpoint for all else.
    public init(ofNetworkAt path: some PathConvertible) throws {
        let path = path.filePath.string
        self = try Self.formats(for: .graphs).first { try $0.recognizes(path) } ?? .checkpoint
    }

    /// Reads a Core ML package or an `.aimodel`, whichever is at a path.
    ///
    /// - Parameter path: the folder.
    /// - Throws: as `MLPackage.init(contentsOf:)` and `MLPackage.init(contentsOfAIModel:)` do;
    ///   `FileError` if there is none.
    public static func package(at path: some PathConvertible) throws -> MLPackage {
        let path = path.filePath.string
        let format = try formats(for: .packages).first { try $0.recognizes(path) }
        return try format?.readPackage(at: path) ?? MLPackage(contentsOf: path)
    }

    /// Reads a package; nil if the format has another content.
    package func readPackage(at path: String) throws -> MLPackage? {
        guard case .package(let read) = content else { return nil }
        return try read(path)
    }

    /// How the network of the file at a path is read.
    static func reader(ofNetworkAt path: String) throws -> NetworkReader {
        guard case .graph(let read) = try ModelFormat(ofNetworkAt: path).content else {
            return .checkpoint
        }
        return NetworkReader(
            open: { CheckpointSource(try read($0, .init(), []).checkpoint) },
            read: { try read($0, .init(), []).checkpoint })
    }

    /// Reads the weights of a network as a state dict, from a file of tensors or a checkpoint.
    static func weights(
        at path: String, expecting expected: [String: Shape], key: String?
    ) throws -> StateDict {
        var found = try StateDict(contentsOf: path, expecting: expected, key: key)
        // The optimizer's state is not part of the network.
        if try checkpoint.recognizes(path) {
            found.removeAll(withPrefix: CheckpointFormat.optimizerPrefix)
        }
        return found
    }

    /// As ``weights(at:expecting:key:)``, of a network whose names may all have a prefix there.
    static func weights(
        at path: String, of network: StateSpec, key: String?
    ) throws -> StateDict {
        func read(_ prefix: String) throws -> StateDict {
            let expected = network.entries.map { (prefix + $0.name, $0.shape) }
            return try weights(
                at: path, expecting: Dictionary(uniqueKeysWithValues: expected), key: key)
        }
        let found = try read("")
        guard let prefix = found.prefix(of: network.weights) else { return found }
        return try read(prefix).removing(prefix: prefix)
    }
}

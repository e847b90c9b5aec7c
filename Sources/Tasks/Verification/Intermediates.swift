import Foundation
import RetintFiles
import RetintGraph
import RetintTensorFiles
import RetintTensors
import SystemPackage

/// A folder `NAME.aimodelintermediates`, as written by coreai-torch and compared with a device by
/// Apple's debugger for Core AI: the inputs, the outputs and the intermediate values of one run.
///
/// `metadata.json` describes each value; its numbers are in a NumPy file. Values are in
/// the order of computation, which is part of the file names: `relu_0004.npy`.
struct Intermediates: Sendable {
    static let metadataFile = "metadata.json"
    private static let maximumBytes = 64 << 20
    private static let maximumCount = 100_000

    /// A value: inputs, outputs and intermediate values are described in the same way.
    struct Value: Sendable {
        let name: String
        /// The operation that computes it: `aten.relu.default`.
        let operation: String
        let shape: Shape
        /// The path of its file in the folder.
        fileprivate let file: String
    }

    let path: String
    let inputs: [Value]
    let outputs: [Value]
    let values: [Value]

    /// Reads the description; numbers are read on demand.
    ///
    /// - Throws: `FileError` if it cannot be read, or is a link; ``VerificationError`` if it is not
    ///   such a folder, or names a file outside the folder.
    init(contentsOf path: some PathConvertible) throws {
        let file = path.filePath.appending(Self.metadataFile)
        let bytes = try RegularFile(file, followingLinks: false)
            .contents(maximumBytes: Self.maximumBytes)
        let metadata: IntermediatesMetadata
        do {
            metadata = try JSONDecoder().decode(IntermediatesMetadata.self, from: Data(bytes))
        } catch {
            throw VerificationError(
                .badReference, path: file.string,
                "does not describe intermediate values; a reference is an HDF5 file, or a folder "
                    + "that coreai-torch's save_intermediates or retint verify --intermediates "
                    + "has written")
        }
        self.path = path.filePath.string
        inputs = try Self.sorted(metadata.inputs, "inputs", file)
        outputs = try Self.sorted(metadata.outputs, "outputs", file)
        // These include the weights.
        let computed = metadata.intermediates.filter { $0.value.nodeOp != "get_attr" }
        values = try Self.sorted(computed, "intermediates", file)
    }

    private static func sorted(
        _ nodes: [String: IntermediatesMetadata.Node], _ group: String, _ file: FilePath
    ) throws -> [Value] {
        guard nodes.count <= maximumCount else {
            throw VerificationError(
                .badReference, path: file.string, place: group,
                "has more than \(maximumCount) values")
        }
        let values = try nodes.map { try value($0, $1, "\(group).\($0)", file) }
        return values.sorted { ($0.position, $0.name) < ($1.position, $1.name) }
    }

    private static func value(
        _ name: String, _ node: IntermediatesMetadata.Node, _ place: String, _ file: FilePath
    ) throws -> Value {
        func require(_ condition: Bool, _ rule: String) throws {
            guard !condition else { return }
            throw VerificationError(.badReference, path: file.string, place: place, rule)
        }
        try require(
            node.dataFile.hasPrefix("data/") && RelativePath.flaw(in: node.dataFile) == nil,
            "its data_file must be in the folder data")
        try require(
            node.shape.count <= Shape.maximumRank
                && node.shape.allSatisfy { (0...Shape.maximumExtent).contains($0) },
            "its shape must have at most \(Shape.maximumRank) dimensions from 0 to "
                + "\(Shape.maximumExtent)")
        return Value(
            name: name, operation: node.nodeTarget, shape: Shape(node.shape), file: node.dataFile)
    }

    /// Reads a value.
    ///
    /// - Throws: `TensorFileError` if it cannot be read; ``VerificationError`` if its shape is not
    ///   that of the description, or it has integers.
    func read(_ value: Value) throws -> TensorData {
        let file = try NumPyFile(value.file, beneath: path)
        guard file.shape == value.shape else {
            throw VerificationError(
                .badReference, path: file.path,
                "has shape \(file.shape), but \(Self.metadataFile) says \(value.shape)")
        }
        guard let data = try file.read().tensorData else {
            throw VerificationError(
                .badReference, path: file.path, "has integers; a reference must have floats")
        }
        return data
    }

    /// Reads the intermediate value with a name.
    func read(_ name: String) throws -> TensorData {
        guard let value = values.first(where: { $0.name == name }) else {
            throw VerificationError(.badReference, path: path, place: name, "is not in the folder")
        }
        return try read(value)
    }
}

extension Intermediates.Value {
    /// The number at the end of the file's name.
    fileprivate var position: Int {
        let stem = FilePath(file).stem ?? ""
        return stem.split(separator: "_").last.flatMap { Int($0) } ?? .max
    }
}

/// The structure of `metadata.json`.
struct IntermediatesMetadata: Codable {
    struct Node: Codable {
        let nodeName: String
        let nodeOp: String?
        let nodeTarget: String
        let dataFile: String
        let shape: [Int]
        let torchDtype: String
        let numel: Int

        enum CodingKeys: String, CodingKey {
            case shape, numel
            case nodeName = "node_name"
            case nodeOp = "node_op"
            case nodeTarget = "node_target"
            case dataFile = "data_file"
            case torchDtype = "torch_dtype"
        }
    }

    var inputs: [String: Node] = [:]
    var outputs: [String: Node] = [:]
    var intermediates: [String: Node] = [:]
}

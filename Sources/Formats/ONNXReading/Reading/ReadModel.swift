import RetintFiles
import RetintONNXProto
import SwiftProtobuf
import SystemPackage

extension ONNXModel {
    /// The versions of ONNX's operators that are read.
    package static let opsets = 7...21
    /// The versions of the file format that are read.
    package static let irVersions: ClosedRange<Int64> = 3...14

    /// Reads a file, with its external data files.
    ///
    /// - Throws: ``ONNXError`` for a file that is damaged or contains something unsupported, naming
    ///   all unsupported operations; `FileError` if it cannot be read.
    package init(contentsOf path: some PathConvertible) throws {
        let path = path.filePath
        self = try naming(path.string) {
            var model = try ONNXModel(path)
            try model.prepare()
            return model
        }
    }

    /// Reads a file unchanged, whatever operations it contains.
    ///
    /// - Throws: ``ONNXError`` for a file that is damaged; `FileError` if it cannot be read.
    package init(describing path: some PathConvertible) throws {
        self = try naming(path.filePath.string) { try ONNXModel(path.filePath) }
    }

    private init(_ path: FilePath) throws {
        try self.init(path, ExternalFiles(beside: path))
    }

    private init(_ path: FilePath, _ files: ExternalFiles) throws {
        try self.init(readFile(path, maximumBytes: Int(Int32.max)), from: .files(files))
    }

    /// The external data files of a file, sorted by path.
    ///
    /// - Throws: as ``init(describing:)``.
    package static func externalFiles(of path: some PathConvertible) throws -> [String] {
        let files = ExternalFiles(beside: path.filePath)
        _ = try naming(path.filePath.string) { try ONNXModel(path.filePath, files) }
        return files.paths
    }

    /// Reads a model from a checkpoint, without the elements of its weights.
    package init(checkpointBytes bytes: [UInt8]) throws {
        try self.init(bytes, from: .checkpoint)
        try prepare()
    }

    init(_ bytes: [UInt8], from source: ElementSource) throws {
        let proto = try Self.parse(bytes)
        let opset = try Self.checkedOpset(proto)
        var reading = GraphReading(source: source)
        try reading.read(proto.graph)
        self.init(
            opset: opset, producer: proto.producerName,
            metadata: Dictionary(proto.metadataProps.map { ($0.key, $0.value) }) { first, _ in
                first
            },
            inputs: reading.inputs, outputs: reading.outputs, nodes: reading.nodes,
            initializers: reading.initializers)
        producerVersion = proto.producerVersion
        if case .checkpoint = source {
            constants = Set(initializers.filter { $0.value.elements != nil }.keys)
        }
    }

    /// Reduces the model to the parts that are computed from its inputs.
    mutating func prepare() throws {
        prune()
        try checkOperations()
        try simplify()
        let roles = roles
        untrained = nodes.flatMap(\.inputs).reduce(into: []) { found, name in
            guard let tensor = initializers[name], tensor.type.isFloat, tensor.count > 1,
                roles[name] == nil, !constants.contains(name), !found.contains(name)
            else { return }
            found.append(name)
        }
        constants = Set(initializers.keys).subtracting(roles.keys)
    }

    /// - Parameter keepsAll: whether fields that are not read are kept, for a copy.
    static func parse(
        _ bytes: [UInt8], keepingAll keepsAll: Bool = false
    ) throws -> ONNXModelProto {
        try StructureScan.check(bytes)
        do {
            var options = BinaryDecodingOptions()
            options.discardUnknownFields = !keepsAll
            // What lies deeper was not counted.
            options.messageDepthLimit = StructureScan.deepest
            return try ONNXModelProto(serializedBytes: bytes, options: options)
        } catch {
            throw ONNXError(rule: "it is not an ONNX model (\(error))")
        }
    }

    private static func checkedOpset(_ proto: ONNXModelProto) throws -> Int {
        guard proto.hasGraph, proto.hasIrVersion else {
            throw ONNXError(rule: "it is not an ONNX model: it has no graph or no version")
        }
        guard irVersions.contains(proto.irVersion) else {
            throw ONNXError(
                rule: "its format is version \(proto.irVersion); versions \(irVersions.lowerBound) "
                    + "to \(irVersions.upperBound) are read",
                remedy: "Export the network with an ir_version in that range.")
        }
        let own = proto.opsetImport.filter { ["", "ai.onnx"].contains($0.domain) }
        guard own.count == 1, let opset = Int(exactly: own[0].version) else {
            throw ONNXError(rule: "it names \(own.count) versions of ONNX's operators, not one")
        }
        guard opsets.contains(opset) else {
            throw ONNXError(
                rule: "its operators are of opset \(opset); opsets \(opsets.lowerBound) to "
                    + "\(opsets.upperBound) are read",
                remedy: "Export the network with opset_version=\(opsets.upperBound).")
        }
        return opset
    }
}

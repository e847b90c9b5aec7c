import RetintFiles
import RetintONNXProto
import SwiftProtobuf
import SystemPackage

/// Properties for the nodes and the model of an ONNX file, which viewers such as Netron and Model
/// Explorer show.
package struct ONNXAnnotations: Sendable {
    package typealias Property = (key: String, value: String)

    /// The properties of nodes, by the name of an output or by ``ONNXNode/module``.
    private let nodes: [String: [Property]]
    private let model: [Property]

    package init(nodes: [String: [Property]], model: [Property]) {
        (self.nodes, self.model) = (nodes, model)
    }

    /// Writes a copy of the file at `path` that has these properties. Nodes without a name get that
    /// of their first output, because viewers identify nodes by their names.
    ///
    /// - Throws: `FileError` if a file cannot be read or written; ``ONNXError`` if `path` is not an
    ///   ONNX file, or has its weights in another file, which the copy would not find.
    package func write(
        copyOf path: some PathConvertible, to copy: some PathConvertible
    ) throws {
        let (path, copy) = (path.filePath, copy.filePath)
        var proto = try Self.read(path, keepingAll: true)
        guard !proto.graph.hasExternalData || folder(of: path) == folder(of: copy) else {
            throw ONNXError(
                file: copy.string, rule: "it would share the file of weights of \(path.string)",
                remedy: "Write it to the same folder.")
        }
        add(to: &proto)
        try AtomicFile.write(try proto.serializedBytes(), to: copy)
    }

    private func add(to proto: inout ONNXModelProto) {
        proto.metadataProps.add(model)
        for index in proto.graph.node.indices {
            let node = ONNXNode(names: proto.graph.node[index])
            let own = (node.outputs + [node.module]).lazy.compactMap { nodes[$0] }.first
            proto.graph.node[index].name = node.title
            proto.graph.node[index].metadataProps.add(own ?? [])
        }
    }

    /// The titles of the nodes in the ONNX file at `path`, by ``ONNXNode/module``.
    ///
    /// - Throws: `FileError` if it cannot be read; ``ONNXError`` if it is damaged.
    package static func titles(inFileAt path: some PathConvertible) throws -> [String: String] {
        let nodes = try read(path.filePath).graph.node.map { ONNXNode(names: $0) }
        return Dictionary(nodes.map { ($0.module, $0.title) }) { first, _ in first }
    }

    private static func read(
        _ path: FilePath, keepingAll keepsAll: Bool = false
    ) throws -> ONNXModelProto {
        try naming(path.string) {
            try ONNXModel.parse(
                readFile(path, maximumBytes: Int(Int32.max)), keepingAll: keepsAll)
        }
    }
}

/// The folder of a file, whatever the path to it; nil if there is none.
private func folder(of path: FilePath) -> FileIdentity? {
    let folder = path.removingLastComponent()
    return FileIdentity(of: folder.isEmpty ? "." : folder)
}

extension ONNXNode {
    /// A node without its attributes.
    fileprivate init(names proto: ONNXNodeProto) {
        self.init(name: proto.name, proto.opType, proto.input, proto.output)
    }
}

extension ONNXGraphProto {
    fileprivate var hasExternalData: Bool {
        let attributes = node.lazy.flatMap(\.attribute)
        return initializer.contains { $0.dataLocation == .external }
            || attributes.contains { $0.hasT && $0.t.dataLocation == .external }
    }
}

extension [ONNXStringStringEntryProto] {
    /// Sets properties; those with the same key are replaced.
    fileprivate mutating func add(_ properties: [ONNXAnnotations.Property]) {
        let keys = Set(properties.map(\.key))
        removeAll { keys.contains($0.key) }
        self += properties.map { property in
            var entry = ONNXStringStringEntryProto()
            (entry.key, entry.value) = (property.key, property.value)
            return entry
        }
    }
}

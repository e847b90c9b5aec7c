import RetintMLPackage
import RetintONNXProto

/// Collects the nodes and constants of a graph, and keeps names unique.
final class GraphBuilder {
    /// The version of ONNX's operators.
    let opset: Int
    private(set) var nodes: [ONNXNodeProto] = []
    private(set) var initializers: [Initializer] = []
    private var names: Set<String>
    private var smallConstants: [MILValue: String] = [:]

    /// Larger constants are not compared.
    private static let smallCount = 64

    /// - Parameter names: those of the program, which are kept.
    init(opset: Int, reserving names: Set<String>) { (self.opset, self.names) = (opset, names) }

    /// Adds a node; its name is that of its first output.
    func node(
        _ type: String, _ inputs: [String], _ attributes: Attributes, outputs: [String]
    ) {
        var node = ONNXNodeProto()
        (node.opType, node.input, node.output) = (type, inputs, outputs)
        node.name = outputs.first ?? ""
        node.attribute = attributes.protos
        nodes.append(node)
    }

    /// Adds a constant under a name of the program.
    func define(_ value: MILValue, as name: String) {
        initializers.append(Initializer(name: name, value: value))
    }

    /// Adds a constant, or returns the name of an equal small one.
    func constant(_ value: MILValue, name wish: String) -> String {
        let isSmall = (value.type.elementCount ?? .max) <= Self.smallCount
        if isSmall, let earlier = smallConstants[value] { return earlier }
        let name = unusedName(wish)
        define(value, as: name)
        if isSmall { smallConstants[value] = name }
        return name
    }

    /// An unused name similar to `wish`.
    func unusedName(_ wish: String) -> String { names.insertUnused(wish) }
}

/// A constant of the graph. Its elements are read when the file is written.
struct Initializer {
    let name: String
    let value: MILValue
}

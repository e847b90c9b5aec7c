import MLPackage
import TensorGraph

/// An operation of the graph that can be said in MIL.
package protocol MILLowerable: Operation {
    /// Whether the node does the work of the one behind its first input as well, so that that one
    /// is not written.
    func absorbsInput(of node: LoweredNode, in lowering: MILLowering) -> Bool

    /// Writes the node's operations and returns the name of its value.
    func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String
}

extension MILLowerable {
    package func absorbsInput(of node: LoweredNode, in lowering: MILLowering) -> Bool { false }
}

/// A node of the graph on its way to MIL.
package struct LoweredNode {
    package let id: Int
    package let operation: any Operation
    package let inputs: [Int]
    package let inputShapes: [Shape]
    package let shape: Shape
    /// What its value is called in the program: the module's path and the operation.
    package let name: String

    init(_ id: Int, of graph: Graph) {
        let node = graph.nodes[id]
        self.id = id
        operation = node.operation
        inputs = node.inputs
        inputShapes = node.inputs.map { graph.nodes[$0].shape }
        shape = node.shape
        let kind = node.operation.name
        name = node.module.isEmpty ? kind : "\(node.module).\(kind)"
    }

    /// An error that happened to this node.
    func error(_ rule: String, _ remedy: String) -> ConversionError {
        ConversionError(place: "operation \(name)", rule: rule, remedy: remedy)
    }
}

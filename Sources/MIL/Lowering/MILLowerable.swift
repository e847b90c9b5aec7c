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
    /// The dotted path of the module that the node belongs to.
    package let module: String
    /// The node behind the first input, where it is written together with this one.
    package internal(set) var absorbed: [LoweredNode] = []

    init(_ id: Int, of graph: Graph) {
        let node = graph.nodes[id]
        self.id = id
        operation = node.operation
        inputs = node.inputs
        inputShapes = node.inputs.map { graph.nodes[$0].shape }
        shape = node.shape
        module = node.module
    }

    var absorbsInput: Bool { !absorbed.isEmpty }

    /// The nodes that what is written takes its values from.
    package var operandIDs: [Int] {
        let first = absorbed.first?.inputs ?? Array(inputs.prefix(1))
        return first + inputs.dropFirst()
    }

    /// What its value is called in the program: the module's path and the operation.
    package var name: String {
        module.isEmpty ? operation.name : "\(module).\(operation.name)"
    }

    /// An error that happened to this node.
    func error(_ rule: String, _ remedy: String) -> ConversionError {
        ConversionError(place: "operation \(name)", rule: rule, remedy: remedy)
    }
}

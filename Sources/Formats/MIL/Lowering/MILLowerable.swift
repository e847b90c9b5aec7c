import RetintGraph
import RetintMLPackage
import RetintTensors

/// A type that lowers or raises operations. `OperationForms` lists all of them.
package protocol MILForm: SendableMetatype {}

/// A graph operation that can be lowered to MIL.
package protocol MILLowerable: MILForm, Operation {
    /// Whether lowering this node also covers the node that computes its first input, so that that
    /// node is not lowered separately.
    func absorbsInput(of node: LoweredNode, in lowering: MILLowering) -> Bool

    /// Adds the node's MIL operations to the program and returns the name of its value.
    ///
    /// - Throws: ``ConversionError`` if MIL cannot express the node.
    func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String
}

extension MILLowerable {
    package func absorbsInput(of node: LoweredNode, in lowering: MILLowering) -> Bool { false }
}

/// A graph node that is being lowered to MIL.
package struct LoweredNode {
    package let id: Int
    package let operation: any Operation
    package let inputs: [Int]
    package let inputShapes: [Shape]
    package let shape: Shape
    /// The dotted path of the module that the node belongs to.
    package let module: String
    /// The node that computes the first input, if it is lowered together with this one.
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

    /// The nodes whose values the lowered operations read.
    package var operandIDs: [Int] {
        let first = absorbed.first?.inputs ?? Array(inputs.prefix(1))
        return first + inputs.dropFirst()
    }

    /// The name of its value, before it is made legal: the module path and the operation.
    package var name: String {
        module.isEmpty ? operation.name : "\(module).\(operation.name)"
    }

    /// An error located at this node.
    func error(_ rule: String, _ remedy: String) -> ConversionError {
        ConversionError(place: "operation \(name)", rule: rule, remedy: remedy)
    }
}

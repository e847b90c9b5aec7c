import RetintGraph
import RetintTensors

/// A convolution or batch normalization of a graph: a node with parameters after its first input.
struct ParameterNode {
    let id: Int
    let operation: any Operation
    /// The id of the first input, which is not a parameter.
    let source: Int
    let parameters: [Int]
    let shapes: [Shape]
    /// Its location, for error messages.
    let place: String

    private init?(_ id: Int, of graph: Graph) {
        let node = graph.nodes[id]
        switch node.operation {
        case is Convolution, is ConvolutionTranspose, is BatchNormInference: break
        default: return nil
        }
        self.id = id
        operation = node.operation
        source = node.inputs[0]
        parameters = Array(node.inputs.dropFirst())
        shapes = parameters.map { graph.nodes[$0].shape }
        place = node.module.isEmpty ? operation.name : "\(node.module).\(operation.name)"
    }

    /// The nodes that `outputs` depend on, in the order of computation.
    static func all(for outputs: [Tensor]) -> [ParameterNode] {
        guard let graph = outputs.first?.graph else { return [] }
        return graph.live(from: outputs.map(\.id)).compactMap { ParameterNode($0, of: graph) }
    }

    var isNormalization: Bool { operation is BatchNormInference }

    /// Whether `other` is the same operation with parameters of the same shapes. A convolution may
    /// have an additional bias.
    func isLike(_ other: ParameterNode) -> Bool {
        operation.name == other.operation.name && other.shapes.starts(with: shapes)
            && other.shapes.count - shapes.count <= (isNormalization ? 0 : 1)
    }

    /// A description for error messages: `conv2d of [16, 1, 3, 3]`.
    var text: String { "\(operation.name) of \(shapes.first.map(\.description) ?? "nothing")" }
}

import TensorGraph

/// A convolution or a batch normalization of a graph: what has parameters, behind its first input.
struct ParameterNode {
    let id: Int
    let operation: any Operation
    /// The input that is no parameter.
    let source: Int
    let parameters: [Int]
    let shapes: [Shape]
    /// Where it stands, for messages.
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

    /// Those that `outputs` need, in the order in which they are computed.
    static func all(for outputs: [Tensor]) -> [ParameterNode] {
        guard let graph = outputs.first?.graph else { return [] }
        return graph.live(from: outputs.map(\.id)).compactMap { ParameterNode($0, of: graph) }
    }

    var isNormalization: Bool { operation is BatchNormInference }

    /// Whether `other` does the same with parameters of the same shapes; it may have a bias more.
    func isLike(_ other: ParameterNode) -> Bool {
        operation.name == other.operation.name && other.shapes.starts(with: shapes)
            && other.shapes.count - shapes.count <= (isNormalization ? 0 : 1)
    }

    /// For messages: `conv2d of [16, 1, 3, 3]`.
    var text: String { "\(operation.name) of \(shapes.first.map(\.description) ?? "nothing")" }
}

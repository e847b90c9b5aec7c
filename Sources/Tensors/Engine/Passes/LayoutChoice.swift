import RetintCompiler
import RetintGraph
import RetintTensors

/// Chooses for values of four axes whether they are images, which are channels-last in memory, or
/// rows, such as the scores of attention, which are row-major.
///
/// Rows get a fifth axis: all values but those of four axes are row-major. The choice is made for
/// groups of operations that keep the order of their operands, so that as few elements as possible
/// change their order between the groups.
struct LayoutChoice: GraphPass {
    static let name = "choose layouts"
    /// Whether a run changes variables.
    let learns: Bool

    func run(on input: GraphPassInput) -> GraphPassResult {
        let rows = LayoutGroups(input, learns: learns).rows
        return GraphRewrite.run(on: input) { rewrite, id in
            guard rows.contains(id) else { return nil }
            let node = input.graph.nodes[id]
            let operands = node.inputs.map { asRows(rewrite.copy(of: $0)) }
            let result =
                (node.operation as? any AlongAxes)?.appliedToRaised(operands)
                ?? rewrite.target.apply(node.operation, operands)
            return result.reshaped(node.shape)
        }
    }

    /// The value with an axis of 1 before its four. If it is a reshape of such a value, that one.
    private func asRows(_ value: Tensor) -> Tensor {
        guard value.shape.rank == 4 else { return value }
        let shape = Layout.rowMajor(value.shape)
        let node = value.graph.nodes[value.id]
        if node.operation is Reshape, value.graph.nodes[node.inputs[0]].shape == shape {
            return Tensor(graph: value.graph, id: node.inputs[0])
        }
        return value.reshaped(shape)
    }
}

/// An operation of any layout that knows its axes by number.
protocol AlongAxes: CPUOperation {
    /// The operation on operands with one more axis, before all others.
    func appliedToRaised(_ operands: [Tensor]) -> Tensor
}

private func raised(_ axis: Int) -> Int { axis < 0 ? axis : axis + 1 }

extension Softmax: AlongAxes {
    func appliedToRaised(_ operands: [Tensor]) -> Tensor {
        softmax(operands[0], axis: raised(axis))
    }
}

extension LogSoftmax: AlongAxes {
    func appliedToRaised(_ operands: [Tensor]) -> Tensor {
        logSoftmax(operands[0], axis: raised(axis))
    }
}

extension Concat: AlongAxes {
    func appliedToRaised(_ operands: [Tensor]) -> Tensor { concat(operands, axis: raised(axis)) }
}

extension Pad: AlongAxes {
    func appliedToRaised(_ operands: [Tensor]) -> Tensor {
        operands[0].padded(before: [0] + before, after: [0] + after, value: value)
    }
}

extension AdjacentReduction {
    func appliedToRaised(_ operands: [Tensor]) -> Tensor {
        // Without a list, all axes are reduced.
        operands[0].applying(Self(axes: axes.map(raised), keepDims: keepDims))
    }
}

import RetintCompiler
import RetintGraph
import RetintTensors

/// The passes over a graph for a GPU, in order.
package enum CUDAPasses {
    /// - Parameters:
    ///   - roundsToHalf: whether every result is rounded to float16.
    ///   - recomputes: whether the backward pass computes normalized activations again.
    package static func passes(roundsToHalf: Bool, recomputes: Bool) -> [any GraphPass] {
        (roundsToHalf ? [HalfRounding()] : [])
            + [DeviceDecomposition(), MovementComposition()]
            + (recomputes ? [Recomputation()] : [])
    }

    /// The passes over the steps of a program.
    package static var stepPasses: [any StepPass] { [UpdateGrouping()] }
}

/// Expresses operations by those that have kernels on a GPU.
struct DeviceDecomposition: GraphPass {
    static let name = "decompose operations for a GPU"

    func run(on input: GraphPassInput) -> GraphPassResult {
        GraphRewrite.run(on: input) { graph, operation, inputs in
            switch operation {
            case let operation as any ComposedOperation: operation.composed(inputs)
            case is Convolution where inputs.count == 3,
                is ConvolutionTranspose where inputs.count == 3:
                // The bias fuses with what follows.
                biased(graph.apply(operation, Array(inputs[..<2])), inputs[2])
            case let product as MatMul where inputs[0].shape.rank > 3 || isFlat(product, inputs):
                flattened(product, inputs)
            default: graph.apply(operation, inputs)
            }
        }
    }

    private func biased(_ y: Tensor, _ bias: Tensor) -> Tensor { y + perChannel(bias, like: y) }

    /// Whether the rows of all matrices are those of one, because they share their second factor.
    private func isFlat(_ product: MatMul, _ inputs: [Tensor]) -> Bool {
        !product.transposeX && inputs[0].shape.rank == 3 && inputs[1].shape.rank == 2
    }

    /// A product of matrices that lie one after another.
    private func flattened(_ product: MatMul, _ inputs: [Tensor]) -> Tensor {
        let (x, y) = (inputs[0], inputs[1])
        guard let shape = try? product.outputShape(for: [x.shape, y.shape]) else {
            return x.graph.apply(product, inputs)
        }
        func matrices(_ value: Tensor) -> Tensor {
            let (rows, columns) = (value.shape[-2], value.shape[-1])
            return value.reshaped([value.shape.count / max(rows * columns, 1), rows, columns])
        }
        let isOne = y.shape.rank == 2
        let rows =
            isOne && !product.transposeX
            ? x.reshaped([x.shape.count / max(x.shape[-1], 1), x.shape[-1]]) : matrices(x)
        return x.graph.apply(product, [rows, isOne ? y : matrices(y)]).reshaped(shape)
    }
}

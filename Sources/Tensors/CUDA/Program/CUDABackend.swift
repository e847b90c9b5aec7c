import RetintCompiler
import RetintDistributed
import RetintGraph
import RetintTensors

/// A GPU: convolutions and matrix products of NVIDIA's libraries, and kernels from the graph.
package struct CUDABackend: RecordingBackend {
    package init() {}

    // It would be a kernel of its own after that of the operation.
    package func appliesElementwiseWork(to operation: any Operation) -> Bool { false }

    package func kernel(
        of node: Graph.Node, inputs: [Buffer], output: Buffer, _ communicator: Communicator
    ) throws(GraphError) -> any StepKernel {
        let operation = node.operation
        let shapes = inputs.map(\.shape)
        let product = ProductCall(operation, shapes, output.shape)
        func failure(_ reason: String) -> GraphError {
            GraphError(
                operation: operation.name, module: node.module, inputShapes: shapes,
                reason: reason)
        }
        if let operation = operation as? any RankOperation {
            if let problem = operation.problem(on: communicator) { throw failure(problem) }
        } else if product == nil, !(operation is any DeviceOperation),
            !(operation is any HostOperation)
        {
            throw failure(
                "this operation is not computed on a GPU; choose another device than cuda")
        }
        return RecordedKernel(
            operation.name, .operation(node, inputs: inputs, output: output),
            multiplyAdds: product?.multiplyAdds ?? 0)
    }
}

/// An operation that one of NVIDIA's libraries computes.
enum ProductCall {
    case convolution(ConvolutionCall)
    case matrices(CuBLASLt.Product)

    /// The call for an operation in float32; nil if it is another operation.
    init?(_ operation: any Operation, _ inputs: [Shape], _ output: Shape) {
        func convolution(
            _ direction: ConvolutionCall.Direction, _ x: Shape, _ w: Shape, _ y: Shape,
            _ window: Window, _ groups: Int
        ) -> ProductCall {
            .convolution(
                ConvolutionCall(
                    direction: direction, x: x, w: w, y: y, window: window, groups: groups))
        }
        switch operation {
        case let rule as Convolution:
            self = convolution(.forward, inputs[0], inputs[1], output, rule.window, rule.groups)
        case let rule as ConvolutionTranspose:
            self = convolution(
                .dataGradient, output, inputs[1], inputs[0], rule.window, rule.groups)
        case let rule as ConvolutionWeightGradient:
            self = convolution(
                .weightGradient, inputs[0], output, inputs[1], rule.window, rule.groups)
        case let rule as MatMul:
            let (x, y) = (inputs[0], inputs[1])
            self = .matrices(
                CuBLASLt.Product(
                    rows: output[-2], inner: rule.transposeX ? x[-2] : x[-1], columns: output[-1],
                    batch: output.count / max(output[-2] * output[-1], 1),
                    transposesX: rule.transposeX, transposesY: rule.transposeY,
                    sharesY: y.rank == 2, format: .float32))
        default: return nil
        }
    }

    var multiplyAdds: Int {
        switch self {
        case .convolution(let call): call.multiplyAdds
        case .matrices(let product):
            product.batch * product.rows * product.inner * product.columns
        }
    }
}

import CRetintKernels
import Glibc
import RetintGraph

extension Add: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_add, as: .sum) }
}

extension Subtract: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_sub) }
}

extension Multiply: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_mul, as: .product) }
}

extension Divide: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_div) }
}

extension Power: LoopOperation, DecomposableOperation {
    var loop: ElementwiseLoop { .swift { powf($0, $1) } }

    /// Products, quotients and roots take a small part of `powf`'s time; as in PyTorch.
    func decomposed(_ inputs: [Tensor]) -> Tensor {
        let (x, graph) = (inputs[0], inputs[0].graph)
        guard let exponent = graph.nodes[inputs[1].id].operation as? Constant,
            exponent.data.shape.rank <= x.shape.rank, exponent.data.shape.count == 1
        else { return graph.apply(self, inputs) }
        switch exponent.data.scalars[0] {
        case 2: return x * x
        case 3: return x * x * x
        case 0.5: return sqrt(x)
        case -0.5: return 1 / sqrt(x)
        case -1: return 1 / x
        default: return graph.apply(self, inputs)
        }
    }
}

extension Maximum: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_max) }
}

extension Minimum: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_min) }
}

extension Negate: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_neg) }
}

extension Absolute: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_abs) }
}

extension Clip: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_clip, minimum, maximum, as: .limits(minimum, maximum)) }
}

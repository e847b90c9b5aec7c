import CRetintKernels
import Glibc
import RetintGraph

extension Add: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_add, as: .sum) }
}

extension Subtract: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_sub) }
}

extension Multiply: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_mul, as: .product) }
}

extension Divide: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_div) }
}

extension Power: ElementwiseOperation {
    var loop: ElementwiseLoop { .swift { powf($0, $1) } }
}

extension Maximum: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_max) }
}

extension Minimum: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_min) }
}

extension Negate: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_neg) }
}

extension Absolute: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_abs) }
}

extension Clip: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_clip, minimum, maximum, as: .limits(minimum, maximum)) }
}

import CRetintKernels
import RetintGraph

extension Exp: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_exp) }
}

extension Log: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_log) }
}

extension SquareRoot: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_sqrt) }
}

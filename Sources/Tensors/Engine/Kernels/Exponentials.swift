import CRetintKernels
import RetintGraph

extension Exp: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_exp) }
}

extension Log: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_log) }
}

extension ErrorFunction: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_erf) }
}

extension SquareRoot: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_sqrt) }
}

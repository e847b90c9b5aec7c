import CRetintKernels
import RetintGraph

extension Exp: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_exp) }
}

extension Log: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_log) }
}

extension ErrorFunction: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_erf) }
}

extension SquareRoot: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_sqrt) }
}

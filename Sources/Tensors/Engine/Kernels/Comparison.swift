import CRetintKernels
import RetintGraph

extension Greater: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_gt) }
}

extension GreaterOrEqual: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_ge) }
}

extension Equal: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_eq) }
}

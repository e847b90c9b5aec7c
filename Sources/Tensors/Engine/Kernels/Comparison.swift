import CRetintKernels
import RetintGraph

extension Greater: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_gt) }
}

extension GreaterOrEqual: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_ge) }
}

extension Equal: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_eq) }
}

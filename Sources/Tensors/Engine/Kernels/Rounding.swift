import CRetintKernels
import RetintGraph

extension Floor: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_floor) }
}

extension Round: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_round) }
}

extension RoundToHalf: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_half) }
}

import CRetintKernels
import RetintGraph

extension Floor: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_floor) }
}

extension Round: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_round) }
}

extension RoundToHalf: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_half) }
}

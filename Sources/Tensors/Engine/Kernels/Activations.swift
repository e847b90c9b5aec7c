import CRetintKernels
import RetintGraph

extension Relu: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_relu, as: .limits(0, .infinity)) }
}

extension ReluGradient: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_where_positive) }
}

extension Relu6Gradient: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_where_inside, 0, 6) }
}

extension LeakyReluGradient: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_leaky_gradient, negativeSlope) }
}

extension LeakyRelu: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_leaky, negativeSlope) }
}

extension Relu6: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_clip, 0, 6, as: .limits(0, 6)) }
}

extension HardSwish: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_hardswish) }
}

extension Sigmoid: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_sigmoid) }
}

extension Tanh: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_tanh) }
}

import CRetintKernels
import RetintGraph

extension Relu: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_relu, as: .limits(0, .infinity)) }
}

extension ReluGradient: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_where_positive) }
}

extension LeakyRelu: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_leaky, negativeSlope) }
}

extension Relu6: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_clip, 0, 6, as: .limits(0, 6)) }
}

extension HardSwish: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_hardswish) }
}

extension Sigmoid: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_sigmoid) }
}

extension Tanh: ElementwiseOperation {
    var loop: ElementwiseLoop { .c(rt_map_tanh) }
}

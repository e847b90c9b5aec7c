import CKernels
import TensorGraph

extension Relu: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_RELU) }
}
extension ReluGradient: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_WHERE_POSITIVE) }
}
extension LeakyRelu: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_LEAKY, p: negativeSlope) }
}
extension Relu6: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_CLIP, p: 0, q: 6) }
}
extension HardSwish: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_HARDSWISH) }
}
extension Sigmoid: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_SIGMOID) }
}
extension Tanh: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_TANH) }
}

import CKernels
import TensorGraph

extension Add: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_ADD) }
}
extension Subtract: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_SUB) }
}
extension Multiply: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_MUL) }
}
extension Divide: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_DIV) }
}
extension Power: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_POW) }
}
extension Maximum: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_MAX) }
}
extension Minimum: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_MIN) }
}
extension Greater: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_GT) }
}
extension GreaterOrEqual: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_GE) }
}
extension Equal: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_EQ) }
}
extension Negate: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_NEG) }
}
extension Exp: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_EXP) }
}
extension Log: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_LOG) }
}
extension SquareRoot: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_SQRT) }
}
extension Absolute: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_ABS) }
}
extension Clip: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_CLIP, p: minimum, q: maximum) }
}
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
extension Floor: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_FLOOR) }
}
extension Round: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_ROUND) }
}
extension Sine: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_SIN) }
}
extension Cosine: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_COS) }
}
extension ArcTangent: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_ATAN) }
}
extension RoundToHalf: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_HALF) }
}

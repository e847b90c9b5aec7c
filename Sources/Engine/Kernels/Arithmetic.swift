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
extension Negate: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_NEG) }
}
extension Absolute: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_ABS) }
}
extension Clip: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_CLIP, p: minimum, q: maximum) }
}

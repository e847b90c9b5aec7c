import CKernels
import TensorGraph

extension Exp: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_EXP) }
}
extension Log: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_LOG) }
}
extension SquareRoot: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_SQRT) }
}

import CKernels
import TensorGraph

extension Floor: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_FLOOR) }
}
extension Round: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_ROUND) }
}
extension RoundToHalf: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_HALF) }
}

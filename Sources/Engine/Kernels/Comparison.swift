import CKernels
import TensorGraph

extension Greater: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_GT) }
}
extension GreaterOrEqual: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_GE) }
}
extension Equal: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_EQ) }
}

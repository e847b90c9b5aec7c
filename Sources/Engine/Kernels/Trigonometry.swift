import CKernels
import TensorGraph

extension Sine: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_SIN) }
}
extension Cosine: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_COS) }
}
extension ArcTangent: PointwiseOperation {
    var instruction: Instruction.Code { .init(opcode: RT_ATAN) }
}

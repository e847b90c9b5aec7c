import Glibc
import RetintGraph

extension Sine: LoopOperation {
    var loop: ElementwiseLoop { .swift { sinf($0) } }
}

extension Cosine: LoopOperation {
    var loop: ElementwiseLoop { .swift { cosf($0) } }
}

extension ArcTangent: LoopOperation {
    var loop: ElementwiseLoop { .swift { atanf($0) } }
}

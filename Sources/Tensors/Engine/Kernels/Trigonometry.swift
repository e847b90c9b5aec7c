import Glibc
import RetintGraph

extension Sine: ElementwiseOperation {
    var loop: ElementwiseLoop { .swift { sinf($0) } }
}

extension Cosine: ElementwiseOperation {
    var loop: ElementwiseLoop { .swift { cosf($0) } }
}

extension ArcTangent: ElementwiseOperation {
    var loop: ElementwiseLoop { .swift { atanf($0) } }
}

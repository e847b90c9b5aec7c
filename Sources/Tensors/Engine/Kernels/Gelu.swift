import CRetintKernels
import RetintGraph

/// x·Φ(x), where Φ is the normal distribution (`torch.nn.functional.gelu`).
struct Gelu: UnaryElementwise, LoopOperation {
    static let name = "gelu"

    package func formula(_ x: Formula) -> Formula {
        0.5 * x * (1 + .unary(.erf, x * 0.707_106_781_186_547_5))
    }

    var loop: ElementwiseLoop { .c(rt_map_gelu) }
}

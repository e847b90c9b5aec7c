import CRetintKernels
import RetintGraph

/// x·Φ(x), where Φ is the normal distribution (`torch.nn.functional.gelu`).
struct Gelu: UnaryElementwise, ElementwiseOperation {
    static let name = "gelu"

    var loop: ElementwiseLoop { .c(rt_map_gelu) }
}

import RetintGraph
import RetintTensors

/// Work that runs as one step: a kernel, elementwise operations, or a kernel and the elementwise
/// operations on its result.
struct FusionGroup {
    /// The node with its own kernel, if any.
    var head: Int?
    /// Elementwise nodes; in order once the groups are scheduled.
    var members: [Int] = []
    /// The shape that all elementwise members share.
    var shape: Shape

    var nodes: [Int] { (head.map { [$0] } ?? []) + members }
}

import RetintGraph
import RetintTensors

/// Work that runs as one step: a kernel, elementwise operations, or a kernel and the elementwise
/// operations on its result.
package struct FusionGroup {
    /// The node with its own kernel, if any.
    package var head: Int?
    /// Elementwise nodes; in order once the groups are scheduled.
    package var members: [Int] = []
    /// The shape that all elementwise members share.
    package var shape: Shape

    package var nodes: [Int] { (head.map { [$0] } ?? []) + members }
}

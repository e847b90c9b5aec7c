import RetintCompiler
import RetintGraph
import RetintTensors

/// Replaces the product of the two halves of a value's channels by one operation, which can take
/// rows from the convolution before it.
struct GateFusion: GraphPass {
    static let name = "fuse gates"

    func run(on input: GraphPassInput) -> GraphPassResult {
        let pattern = GraphPattern(input)
        return GraphRewrite.run(on: input) { rewrite, id in
            gated(id, pattern).map { rewrite.copy(of: $0).applying(ChannelGate()) }
        }
    }

    /// The value whose halves a node is the product of.
    private func gated(_ id: Int, _ pattern: GraphPattern) -> Int? {
        guard pattern.operation(id, as: Multiply.self) != nil else { return nil }
        let halves = pattern.inputs(id)
        guard let first = pattern.operation(halves[0], as: Slice.self),
            let second = pattern.operation(halves[1], as: Slice.self),
            halves.allSatisfy({ pattern.isUsed($0, 1) }),
            pattern.inputs(halves[0]) == pattern.inputs(halves[1]),
            let x = pattern.inputs(halves[0]).first
        else { return nil }
        let shape = pattern.shape(x)
        guard shape.rank == 4, shape[1].isMultiple(of: 2) else { return nil }
        let places = [first, second].map { half(of: shape, $0) }
        return Set(places) == [0, 1] ? x : nil
    }

    /// Which half of the channels a slice is; nil if it is something else.
    private func half(of shape: Shape, _ slice: Slice) -> Int? {
        let size = shape[1] / 2
        var (begin, end) = (slice.begin, slice.end)
        guard slice.stride.allSatisfy({ $0 == 1 }), end[1] - begin[1] == size,
            begin[1].isMultiple(of: size)
        else { return nil }
        let index = begin[1] / size
        (begin[1], end[1]) = (0, shape[1])
        return begin.allSatisfy { $0 == 0 } && end == shape.dimensions ? index : nil
    }
}

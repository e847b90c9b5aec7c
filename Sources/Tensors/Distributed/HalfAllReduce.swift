import CRetintDistributed

/// Adds to each value its previous rounding error, rounds it to half precision, and keeps the new
/// lost.
package func roundKeepingLosses(
    _ values: UnsafeMutablePointer<Float>, _ losses: UnsafeMutablePointer<Float>, _ count: Int
) {
    rt_ranks_round(values, losses, count)
}

/// Values rounded to float16 are sent as such, and summed in float32. The rounding error of a
/// sum is added to that of the rank that computes it.
final class HalfAllReduce: AllReduce<UInt16> {
    private let floats: UnsafeMutableBufferPointer<Float>
    private let losses: UnsafeMutablePointer<Float>
    private var sums: [Float] = []
    private var addends: [Float] = []

    /// - Parameters:
    ///   - floats: values rounded to float16; they stay in place until the operation is done.
    ///   - losses: the rounding error of each value; those of this rank's sums are added.
    init(
        _ floats: UnsafeMutableBufferPointer<Float>, losses: UnsafeMutablePointer<Float>,
        _ scratch: Scratch, tag: Int
    ) {
        (self.floats, self.losses) = (floats, losses)
        super.init(.allocate(capacity: floats.count), scratch, tag: tag)
    }

    deinit { values.deallocate() }

    override func prepare() {
        rt_ranks_to_halves(values.baseAddress, floats.baseAddress, floats.count)
    }

    override func sum(
        _ share: Range<Int>, _ parts: [UnsafeMutablePointer<UInt16>], own: Int
    ) {
        let count = share.count
        sums = Array(repeating: 0, count: count)
        addends = sums
        for part in parts {
            rt_ranks_from_halves(&addends, part, count)
            rt_ranks_add(&sums, addends, count)
        }
        // The rounding errors of the values themselves stay for the next step.
        addends = Array(repeating: 0, count: count)
        rt_ranks_round(&sums, &addends, count)
        rt_ranks_add(losses + share.lowerBound, addends, count)
        rt_ranks_to_halves(parts[own], sums, count)
    }

    override func finish() {
        rt_ranks_from_halves(floats.baseAddress, values.baseAddress, floats.count)
    }
}

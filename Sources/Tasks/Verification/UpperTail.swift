/// The largest of many values: enough for an exact percentile near the top without keeping all.
///
/// The 99th percentile of a million values needs the largest ten thousand.
struct UpperTail {
    private let share: Double
    private let total: Int
    /// The number of largest values that the percentile needs.
    private let needed: Int
    private var largest: [Float] = []
    /// Values that are not above this are not needed.
    private var floor = -Float.infinity

    /// - Parameters:
    ///   - total: the number of values that will be added.
    ///   - share: the percentile in 0…1: 0.99 for the 99th.
    init(total: Int, share: Double) {
        self.total = total
        self.share = share
        needed = max(total - Int(share * Double(total - 1)), 1)
    }

    mutating func add(_ value: Float) {
        guard value > floor else { return }
        largest.append(value)
        if largest.count >= 2 * needed + 1024 { shrink() }
    }

    private mutating func shrink() {
        largest.sort(by: >)
        largest.removeSubrange(needed...)
        floor = largest[needed - 1]
    }

    /// The percentile, linearly interpolated between neighboring values.
    ///
    /// - Precondition: `total` values were added.
    var percentile: Double {
        let sorted = largest.sorted(by: >)
        let position = share * Double(total - 1)
        let fraction = position - position.rounded(.down)
        let below = Double(sorted[needed - 1])
        let above = Double(sorted[max(needed - 2, 0)])
        return below * (1 - fraction) + above * fraction
    }
}

/// A percentile, linearly interpolated between neighboring values.
///
/// - Parameters:
///   - values: the values, in any order.
///   - share: the percentile in 0…1: 0.99 for the 99th.
/// - Precondition: `values` is not empty.
package func percentile(_ values: [Float], _ share: Double) -> Double {
    var tail = UpperTail(total: values.count, share: share)
    for value in values { tail.add(value) }
    return tail.percentile
}

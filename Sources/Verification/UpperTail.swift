/// The largest of many numbers, so that a percentile near the top is exact although not all are
/// kept: of a million, ten thousand do for the 99th.
struct UpperTail {
    private let share: Double
    private let total: Int
    /// How many of the largest the percentile needs.
    private let needed: Int
    private var largest: [Float] = []
    /// What is not above this is not needed.
    private var floor = -Float.infinity

    /// - Parameters:
    ///   - total: how many numbers will be added.
    ///   - share: the percentile as a share of all, 0.99 for the 99th.
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

    /// The value below which the share of all lies, linear between neighbors.
    ///
    /// - Precondition: as many numbers were added as were promised.
    var percentile: Double {
        let sorted = largest.sorted(by: >)
        let place = share * Double(total - 1)
        let fraction = place - place.rounded(.down)
        let below = Double(sorted[needed - 1])
        let above = Double(sorted[max(needed - 2, 0)])
        return below * (1 - fraction) + above * fraction
    }
}

/// The value below which `share` of all lie, linear between neighbors.
public func percentile(_ values: [Float], _ share: Double) -> Double {
    var tail = UpperTail(total: values.count, share: share)
    for value in values { tail.add(value) }
    return tail.percentile
}

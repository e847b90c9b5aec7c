/// How often the numbers of a value lie in each of many equal intervals around zero, gathered in
/// one pass: where a number lies outside, the intervals double.
struct ValueHistogram {
    /// The number of intervals; a multiple of 4, so that pairs on either side of zero can be
    /// joined.
    private static let size = 1 << 13
    /// Counts of numbers other than zero.
    private(set) var counts = [UInt64](repeating: 0, count: size)
    /// The intervals cover −reach…reach: a power of two, or 0 while all numbers are zero.
    private(set) var reach: Float = 0
    /// The smallest and the largest number; 0 is always between them.
    private(set) var low: Float = 0
    private(set) var high: Float = 0
    private(set) var zeros: UInt64 = 0

    var width: Float { 2 * reach / Float(Self.size) }

    /// The middle of an interval.
    func center(_ index: Int) -> Float { (Float(index) + 0.5) * width - reach }

    /// Whether numbers were so large that no scale is reasonable, as in an attention mask; then the
    /// counts are incomplete.
    private(set) var isTooLarge = false
    private static let largest: Float = 0x1p100

    /// Adds numbers.
    ///
    /// - Returns: false if a number is not finite; then nothing is added.
    mutating func add(_ values: [Float]) -> Bool {
        var (smallest, largest, sum): (Float, Float, Float) = (0, 0, 0)
        for value in values {
            (smallest, largest) = (min(smallest, value), max(largest, value))
            sum += value * 0
        }
        // Infinity and NaN times 0 are NaN.
        guard sum == 0 else { return false }
        (low, high) = (min(low, smallest), max(high, largest))
        guard max(-smallest, largest) <= Self.largest else {
            isTooLarge = true
            return true
        }
        widen(to: max(-smallest, largest))
        guard reach > 0 else {
            zeros += UInt64(values.count)
            return true
        }
        let scale = 1 / width
        for value in values {
            if value == 0 {
                zeros += 1
            } else {
                counts[min(max(Int((value + reach) * scale), 0), Self.size - 1)] += 1
            }
        }
        return true
    }

    private mutating func widen(to magnitude: Float) {
        guard magnitude > reach else { return }
        // Below, the widths of intervals would be subnormal.
        let least = max(magnitude, 0x1p-100)
        let next = 2 * least.binade
        if reach > 0 {
            for _ in 0..<min(Int(next.exponent - reach.exponent), 64) { joinPairs() }
        }
        reach = next
    }

    /// Doubles the intervals.
    private mutating func joinPairs() {
        var joined = [UInt64](repeating: 0, count: Self.size)
        for index in 0..<Self.size { joined[Self.size / 4 + index / 2] += counts[index] }
        counts = joined
    }
}

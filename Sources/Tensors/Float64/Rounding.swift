/// Rounds numbers to a format, as a device does after each step.
///
/// The random bits of stochastic rounding are a hash of the number, its place and a key, so a run
/// is the same on any number of threads.
struct Rounding: Sendable {
    /// The bits of a double's significand that the format does not have.
    private let dropped: UInt64
    private let leastNormal: Double
    /// The distance between subnormal numbers.
    private let spacing: Double
    private let largest: Double
    private let flushes: Bool
    let isStochastic: Bool
    private let key: UInt64

    /// - Parameters:
    ///   - flushes: whether subnormal numbers become 0.
    ///   - key: for stochastic rounding; nil to round to the nearest, ties to even.
    init(_ format: DeviceArithmetic.Format, flushes: Bool, key: UInt64?) {
        switch format {
        case .float16:
            dropped = 42
            (leastNormal, spacing, largest) = (0x1p-14, 0x1p-24, 65_504)
        case .float32:
            dropped = 29
            (leastNormal, spacing) = (0x1p-126, 0x1p-149)
            largest = Double(Float.greatestFiniteMagnitude)
        }
        self.flushes = flushes
        (isStochastic, self.key) = (key != nil, key ?? 0)
    }

    @inline(__always)
    func callAsFunction(_ x: Double, at place: Int) -> Double {
        isStochastic ? stochastic(x, place) : nearest(x)
    }

    @inline(__always)
    func nearest(_ x: Double) -> Double {
        let bits = x.magnitude.bitPattern
        let half = (1 << (dropped &- 1)) &- 1 &+ (bits >> dropped & 1)
        return finished(x, normal: bits &+ half, subnormal: x.magnitude)
    }

    @inline(__always)
    func stochastic(_ x: Double, _ place: Int) -> Double {
        let bits = x.magnitude.bitPattern
        let random = mixed(bits ^ key &+ UInt64(truncatingIfNeeded: place) &* 0x9e37_79b9_7f4a_7c15)
        // The largest sum below the next number of the format, so that one in the format stays.
        let part = random & ((1 << dropped) &- 1)
        let unit = Double(Int64(bitPattern: random >> 11)) * 0x1p-53 - 0.5
        let isExact = isSubnormalOfFormat(x.magnitude)
        return finished(
            x, normal: bits &+ part,
            subnormal: isExact ? x.magnitude : max(0, x.magnitude + unit * spacing))
    }

    @inline(__always)
    private func isSubnormalOfFormat(_ magnitude: Double) -> Bool {
        toSpacing(magnitude) == magnitude
    }

    /// The nearest multiple of the distance between subnormal numbers, of a number below them.
    @inline(__always)
    private func toSpacing(_ magnitude: Double) -> Double {
        let shift = 0x1.8p52 * spacing
        return (magnitude + shift) - shift
    }

    @inline(__always)
    private func finished(_ x: Double, normal: UInt64, subnormal: Double) -> Double {
        let cut = Double(bitPattern: normal & ~((1 << dropped) &- 1))
        let small = flushes ? 0 : toSpacing(subnormal)
        let magnitude = x.magnitude < leastNormal ? small : cut
        let bounded = magnitude > largest ? Double.infinity : magnitude
        let signed = Double(bitPattern: bounded.bitPattern | x.bitPattern & (1 << 63))
        return x.isNaN ? x : signed
    }
}

/// The finalizer of SplitMix64: bits that look random.
@inline(__always)
func mixed(_ bits: UInt64) -> UInt64 {
    var z = bits
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
}

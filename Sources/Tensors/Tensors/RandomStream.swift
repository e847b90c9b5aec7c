/// The SplitMix64 generator (Steele, Lea, Flood 2014). Its bits depend only on the seed and a name,
/// so they are the same on every machine.
public struct RandomStream: RandomNumberGenerator, Sendable {
    private var state: UInt64
    private var spareNormal: Double?

    /// Creates a stream, the same for equal seeds and names.
    ///
    /// - Parameter name: distinguishes streams of one seed; hashed with 64-bit FNV-1a.
    public init(seed: UInt64, name: String = "") {
        let hash = name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        state = RandomStream.mix(seed &+ 0x9e37_79b9_7f4a_7c15) ^ hash
    }

    /// The next 64 random bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        return RandomStream.mix(state)
    }

    /// The random words that the stream would return next, in any order.
    package struct Words: Hashable, Sendable {
        package let state: UInt64

        package init(state: UInt64) { self.state = state }

        /// - Parameter index: 0 for the next word.
        package subscript(index: UInt64) -> UInt64 {
            RandomStream.mix(state &+ (index &+ 1) &* 0x9e37_79b9_7f4a_7c15)
        }
    }

    package var words: Words { Words(state: state) }

    private static func mix(_ bits: UInt64) -> UInt64 {
        var z = bits
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// A value in 0..<1, a multiple of 2⁻²⁴, so that it is exact as a `Float`.
    public mutating func uniform() -> Double {
        Double(next() >> 40) * 0x1p-24
    }

    /// A value of the standard normal distribution, by Marsaglia's polar method.
    public mutating func normal() -> Double {
        if let spare = spareNormal {
            spareNormal = nil
            return spare
        }
        while true {
            let (u, v) = (2 * uniform() - 1, 2 * uniform() - 1)
            let square = u * u + v * v
            guard square > 0, square < 1 else { continue }
            let factor = (-2 * naturalLogarithm(square) / square).squareRoot()
            spareNormal = v * factor
            return u * factor
        }
    }
}

/// ln x of a positive, finite x, to about 1e-15, from the exponent and the series of
/// 2·artanh((m − 1)/(m + 1)) for the mantissa m. C's `log` differs between machines in the last
/// bit.
private func naturalLogarithm(_ x: Double) -> Double {
    var (mantissa, exponent) = (x.significand, Double(x.exponent))
    if mantissa > 1.414_213_562_373_095 {
        (mantissa, exponent) = (mantissa / 2, exponent + 1)
    }
    let ratio = (mantissa - 1) / (mantissa + 1)
    let square = ratio * ratio
    // The coefficients 1/25, 1/23, …, 1: divisions by variables would take most of the time.
    var sum = 1.0 / 25
    sum = sum * square + 1.0 / 23
    sum = sum * square + 1.0 / 21
    sum = sum * square + 1.0 / 19
    sum = sum * square + 1.0 / 17
    sum = sum * square + 1.0 / 15
    sum = sum * square + 1.0 / 13
    sum = sum * square + 1.0 / 11
    sum = sum * square + 1.0 / 9
    sum = sum * square + 1.0 / 7
    sum = sum * square + 1.0 / 5
    sum = sum * square + 1.0 / 3
    sum = sum * square + 1.0
    return exponent * 0.693_147_180_559_945_3 + 2 * ratio * sum
}

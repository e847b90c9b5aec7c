import Foundation

/// The error that a coarser way to store a weight leaves, so that another precision can be told
/// from other values.
struct WeightRounding {
    /// The bits of an element of the coarser weight.
    private let bits: Int
    /// Whether elements of the coarser weight may be missing.
    private let isSparse: Bool
    private let isSecondCoarser: Bool

    /// Nil if both weights are stored in the same way, or it is not known how.
    init?(_ first: WeightSource, _ second: WeightSource) {
        guard let own = first.weight.storage, let theirs = second.weight.storage, own != theirs
        else { return nil }
        let (ownBits, theirBits) = (Self.bits(own), Self.bits(theirs))
        isSecondCoarser =
            theirBits < ownBits || theirBits == ownBits && theirs.contains(Self.sparse)
        bits = min(ownBits, theirBits)
        isSparse = (isSecondCoarser ? theirs : own).contains(Self.sparse)
    }

    private static let sparse = "sparse"

    /// 8 for `int8`, 4 for `4-bit palette`.
    private static func bits(_ storage: String) -> Int {
        if storage.hasPrefix("bfloat") { return 8 }
        let digits = storage.drop { !$0.isNumber }.prefix { $0.isNumber }
        return Int(digits) ?? 32
    }

    /// Whether values differ by no more than rounding.
    func explains(_ a: [Float], _ b: [Float]) -> Bool {
        let (fine, coarse) = isSecondCoarser ? (a, b) : (b, a)
        let pairs = zip(fine, coarse).filter { !isSparse || $1 != 0 }
        guard bits < 16 else { return pairs.allSatisfy { isHalfStep($0, $1) } }
        let signal = pairs.reduce(0) { $0 + Double($1.0) * Double($1.0) }
        let noise = pairs.reduce(0) { $0 + pow(Double($1.0) - Double($1.1), 2) }
        return noise == 0 || 10 * log10(signal / noise) >= lowestSNR
    }

    /// Palettes of a normal distribution have 4 dB for 1 bit, 20 dB for 4 and 43 dB for 8, and
    /// steps of equal width somewhat less; calibration may take some of that for better outputs.
    private var lowestSNR: Double { Double(4 * bits - 2) }

    /// Whether values differ by at most one step of float16: normalizations may have been folded
    /// into them before they were rounded.
    private func isHalfStep(_ fine: Float, _ coarse: Float) -> Bool {
        abs(fine - coarse) <= max(abs(fine) * 0x1p-10, 0x1p-24) || fine.isNaN && coarse.isNaN
    }
}

import Glibc

/// How values follow from the expected ones if they are the same but for their unit or range:
/// c = factor · e + offset, such as 255 · e for pixels that were expected in 0…1.
struct UnitChange: Hashable, Sendable, Codable {
    let factor: Double
    /// 0 if it is too small to matter.
    let offset: Double
    /// 10 log₁₀(Σ c² / Σ (c − factor · e − offset)²), in dB.
    let snr: Double

    /// What is left of other differences.
    private static let leastSNR = 40.0
    /// By how many dB the values have to be nearer than without the change.
    private static let leastGain = 20.0
    /// A factor closer to 1 is an error, not a unit.
    private static let leastChange = 0.01

    /// The change with the least squared error.
    ///
    /// - Returns: nil if there is none that explains the difference.
    init?(_ sums: ErrorSums) {
        let (count, mean) = (Double(sums.count), sums.expectedSum / Double(sums.count))
        let spread = sums.expectedSquares - sums.expectedSum * mean
        let common = sums.products - sums.computedSum * mean
        guard sums.isFinite, spread > 1e-12 * sums.expectedSquares else { return nil }
        let factor = common / spread
        let offset = sums.computedSum / count - factor * mean
        let isOffset = abs(offset) > 0.01 * (sums.computedSquares / count).squareRoot()
        self.init(factor: factor, offset: isOffset ? offset : 0, sums)
        let isChange = abs(factor - 1) > Self.leastChange || isOffset
        guard factor != 0, isChange, snr >= max(Self.leastSNR, sums.snr + Self.leastGain) else {
            return nil
        }
    }

    private init(factor: Double, offset: Double, _ sums: ErrorSums) {
        (self.factor, self.offset) = (factor, offset)
        let count = Double(sums.count)
        // Σ (c − factor · e − offset)², of which rounding may leave less than nothing.
        let residual =
            sums.computedSquares + factor * factor * sums.expectedSquares
            + count * offset * offset - 2 * factor * sums.products
            - 2 * offset * sums.computedSum + 2 * factor * offset * sums.expectedSum
        let noise = max(residual, 1e-14 * sums.computedSquares)
        snr = 10 * log10(sums.computedSquares / noise)
    }

    /// The change in a clause.
    var text: String {
        let sign = offset < 0 ? "minus" : "plus"
        let shift = offset == 0 ? "" : " \(sign) \(plain(rounded(abs(offset), digits: 4)))"
        let share = "to \(plain(rounded(snr, digits: 3))) dB"
        guard abs(factor - 1) > Self.leastChange else {
            return "the values are those expected\(shift), \(share): a bias differs, or an offset"
        }
        return "the values are \(plain(rounded(factor, digits: 4))) times those expected\(shift), "
            + "\(share): their unit or range differs"
    }
}

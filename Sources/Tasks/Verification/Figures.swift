import Glibc

/// A value rounded to a number of significant digits; digits before the decimal point are kept.
///
/// - Precondition: `digits` is in 1…17.
func rounded(_ value: Double, digits: Int) -> Double {
    guard value.isFinite, value != 0 else { return value }
    let decimals = digits - 1 - Int(log10(value.magnitude).rounded(.down))
    // Powers of ten up to 10²² are exact, so the quotient is the double nearest to the decimal.
    guard (1...22).contains(decimals) else { return decimals < 1 ? value.rounded() : value }
    let factor = pow(10, Double(decimals))
    return (value * factor).rounded() / factor
}

/// A number in its shortest form: `38` for 38.0, `0.0001`, `1e-05`, `∞`.
func plain(_ value: Double) -> String {
    guard value.isFinite else { return value.isNaN ? "NaN" : value < 0 ? "-∞" : "∞" }
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}

/// A measured value with four significant digits: `1.159` for 1.1593066918856607. It has more if
/// it would otherwise appear to be on the other side of a bound, or equal to it.
func figure(_ value: Double, _ bound: Double) -> String {
    let digits = (4...17).first { digits in
        let shown = rounded(value, digits: digits)
        return (shown < bound) == (value < bound) && (shown > bound) == (value > bound)
    }
    return plain(rounded(value, digits: digits ?? 17))
}

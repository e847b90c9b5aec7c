import Glibc

/// All numbers between two bounds. Results of operations are rounded outward, so that they contain
/// every result for numbers of the operands; a bound that is not known is infinite.
struct Interval: Hashable, Sendable {
    var lower: Double
    var upper: Double

    static let everything = Interval(-.infinity, .infinity)
    static let zero = Interval(0)

    init(_ lower: Double, _ upper: Double) {
        self.lower = lower.isNaN ? -.infinity : lower
        self.upper = upper.isNaN ? .infinity : upper
    }

    /// A single number.
    init(_ number: Double) { self.init(number, number) }

    /// The largest absolute value.
    var magnitude: Double { max(abs(lower), abs(upper)) }

    var width: Double { (upper - lower).nextUp }

    var isPoint: Bool { lower == upper }

    func contains(_ number: Double) -> Bool { lower <= number && number <= upper }

    /// The smallest interval that contains both.
    func hull(_ other: Interval) -> Interval {
        Interval(min(lower, other.lower), max(upper, other.upper))
    }

    /// What both contain; this one if rounding left nothing.
    func intersection(_ other: Interval) -> Interval {
        let (low, high) = (max(lower, other.lower), min(upper, other.upper))
        return low <= high ? Interval(low, high) : self
    }

    /// With a margin on both sides.
    func widened(by margin: Double) -> Interval {
        guard margin > 0 else { return self }
        return Interval((lower - margin).nextDown, (upper + margin).nextUp)
    }

    /// The same bounds, a step of double precision apart.
    private var outward: Interval { Interval(lower.nextDown, upper.nextUp) }
}

// MARK: Arithmetic

extension Interval {
    static prefix func - (x: Interval) -> Interval { Interval(-x.upper, -x.lower) }

    static func + (x: Interval, y: Interval) -> Interval {
        if x == .zero { return y }
        if y == .zero { return x }
        return Interval(x.lower + y.lower, x.upper + y.upper).outward
    }

    static func - (x: Interval, y: Interval) -> Interval { x + (-y) }

    static func * (x: Interval, y: Interval) -> Interval {
        if x == Interval(1) { return y }
        if y == Interval(1) { return x }
        if x == .zero || y == .zero { return .zero }
        let products = [
            product(x.lower, y.lower), product(x.lower, y.upper), product(x.upper, y.lower),
            product(x.upper, y.upper),
        ]
        return Interval(products.min() ?? 0, products.max() ?? 0).outward
    }

    /// 0 · ∞ is 0: a bound that is not known stands for numbers.
    private static func product(_ x: Double, _ y: Double) -> Double {
        x == 0 || y == 0 ? 0 : x * y
    }

    /// Everything if the divisor may be 0.
    static func / (x: Interval, y: Interval) -> Interval {
        guard !y.contains(0) else { return .everything }
        return x * Interval(1 / y.upper, 1 / y.lower).outward
    }

    static func maximum(_ x: Interval, _ y: Interval) -> Interval {
        Interval(max(x.lower, y.lower), max(x.upper, y.upper))
    }

    static func minimum(_ x: Interval, _ y: Interval) -> Interval {
        Interval(min(x.lower, y.lower), min(x.upper, y.upper))
    }

    /// The absolute values.
    var absolute: Interval {
        contains(0) ? Interval(0, magnitude) : Interval(min(abs(lower), abs(upper)), magnitude)
    }

    /// A function that never falls. The C library's functions are within some units in the last
    /// place, which the margin contains.
    func rising(_ function: (Double) -> Double) -> Interval {
        let (low, high) = (function(lower), function(upper))
        return Interval(
            low - abs(low) * 0x1p-48 - 0x1p-1070, high + abs(high) * 0x1p-48 + 0x1p-1070)
    }
}

import Glibc
import RetintFloat64
import RetintGraph

/// Bounds on the results of an elementwise formula, by interval arithmetic on its value and its
/// derivatives.
struct FormulaBounds {
    let formula: Formula
    let operands: [Bound]

    /// A function of one operand is bounded on this many parts of its range.
    private static let parts = 48

    /// - Returns: the bound, and what may go wrong.
    func bound() -> (bound: Bound, hazard: String?) {
        let both = evaluated(operands.map(\.both))
        let exact = range(\.exact, both)
        let computed = range(\.computed, both)
        let lipschitz = slopes(both)
        var error = both.rounding
        for (slope, operand) in zip(lipschitz, operands) where operand.error > 0 {
            error = (error + (slope * operand.error).nextUp).nextUp
        }
        let bound = Bound(
            exact: exact, computed: computed.widened(by: both.rounding),
            error: both.isContinuous ? error : .infinity)
        return (bound.tightened, hazard)
    }

    private var hazard: String? { evaluated(operands.map(\.computed)).hazard }

    private func evaluated(_ ranges: [Interval]) -> Slope {
        FormulaEvaluator(ranges: ranges).value(of: formula)
    }

    /// The index of the only operand that varies.
    private var variable: Int? {
        let varying = operands.indices.filter { !operands[$0].both.isPoint }
        return varying.count == 1 ? varying[0] : nil
    }

    /// Whether the result never falls, or never rises, with an operand.
    private func isMonotone(_ slope: Slope, _ index: Int) -> Bool {
        let partial = slope.partials[index]
        return slope.isContinuous && (partial.lower >= 0 || partial.upper <= 0)
    }

    private func range(_ kind: KeyPath<Bound, Interval>, _ both: Slope) -> Interval {
        let ranges = operands.map { $0[keyPath: kind] }
        guard let variable, both.value.magnitude > 0 else { return evaluated(ranges).value }
        if isMonotone(both, variable) {
            let ends = [ranges[variable].lower, ranges[variable].upper].map { end in
                evaluated(replacing(ranges, variable, Interval(end))).value
            }
            return ends[0].hull(ends[1]).intersection(evaluated(ranges).value)
        }
        return parts(ranges, variable).map { evaluated($0).value }
            .reduce(nil) { (hull: Interval?, part) in hull?.hull(part) ?? part }
            ?? evaluated(ranges).value
    }

    /// The largest slopes in all operands.
    private func slopes(_ both: Slope) -> [Double] {
        guard let variable, both.partials[variable].width > 1e-9 else {
            return both.partials.map(\.magnitude)
        }
        var slopes = both.partials.map(\.magnitude)
        let found = parts(operands.map(\.both), variable).map { ranges in
            evaluated(ranges).partials[variable].magnitude
        }
        slopes[variable] = found.max() ?? slopes[variable]
        return slopes
    }

    private func replacing(
        _ ranges: [Interval], _ index: Int, _ range: Interval
    ) -> [Interval] {
        var ranges = ranges
        ranges[index] = range
        return ranges
    }

    /// The ranges with that of one operand in parts.
    private func parts(_ ranges: [Interval], _ index: Int) -> [[Interval]] {
        let whole = ranges[index]
        let step = (whole.upper - whole.lower) / Double(Self.parts)
        guard step > 0, step.isFinite else { return [ranges] }
        return (0..<Self.parts).map { part in
            let low = part == 0 ? whole.lower : whole.lower + Double(part) * step
            let high =
                part == Self.parts - 1 ? whole.upper : whole.lower + Double(part + 1) * step
            return replacing(ranges, index, Interval(low, max(low, high)))
        }
    }
}

/// The value of a formula, its slopes, and the rounding errors of its steps.
private struct Slope {
    var value: Interval
    /// The derivatives with respect to the operands.
    var partials: [Interval]
    /// The largest error of the result if its operands have none.
    var rounding: Double
    /// Whether it has no jumps, so that the slopes bound differences.
    var isContinuous = true
    /// What may give NaN or infinity.
    var hazard: String?
}

private struct FormulaEvaluator {
    let ranges: [Interval]

    /// Half a unit in the last place of float32, and a bound on the errors of its functions.
    private static let (step, function) = (0x1p-24, 0x1p-20)
    private static let smallest = 0x1p-149

    func value(of formula: Formula) -> Slope {
        if let x = formula.sigmoidOperand { return sigmoid(value(of: x)) }
        switch formula {
        case .operand(let index):
            let partials = ranges.indices.map { $0 == index ? Interval(1) : .zero }
            return Slope(value: ranges[index], partials: partials, rounding: 0)
        case .number(let number):
            return Slope(
                value: Interval(number), partials: ranges.map { _ in .zero }, rounding: 0)
        case .unary(let function, let x): return unary(function, value(of: x))
        case .binary(.multiply, let x, let y) where x == y:
            return square(value(of: x))
        case .binary(let function, let x, let y):
            return binary(function, value(of: x), value(of: y))
        case .ifPositive(let condition, let x, let y):
            return choice(formula, value(of: condition), value(of: x), value(of: y))
        }
    }

    /// A result with the error of a step.
    private func rounded(_ slope: Slope, by unit: Double = step) -> Slope {
        var result = slope
        let size = slope.value.magnitude + slope.rounding
        result.rounding = (slope.rounding + size * unit + Self.smallest).nextUp
        if !(size < Double(Float.greatestFiniteMagnitude)), result.hazard == nil {
            result.hazard = "a step may exceed float32"
        }
        return result
    }

    /// A function whose derivative has a known range.
    private func chained(
        _ x: Slope, _ value: Interval, _ derivative: Interval, by unit: Double
    ) -> Slope {
        var result = x
        result.value = value
        result.partials = x.partials.map { $0 * derivative }
        result.rounding = x.rounding == 0 ? 0 : (x.rounding * derivative.magnitude).nextUp
        return rounded(result, by: unit)
    }

    private func sigmoid(_ x: Slope) -> Slope {
        func value(_ x: Double) -> Double { 1 / (1 + exp(-x)) }
        // The largest derivative is where |x| is the smallest.
        let peak = x.value.contains(0) ? 0 : min(abs(x.value.lower), abs(x.value.upper))
        let derivative = value(peak) * (1 - value(peak))
        return chained(
            x, x.value.rising(value).intersection(Interval(0, 1)),
            Interval(0, derivative * (1 + 0x1p-40)), by: Self.function)
    }
}

// MARK: Functions of one number

extension FormulaEvaluator {
    private func unary(_ function: Formula.Unary, _ x: Slope) -> Slope {
        let range = x.value.widened(by: x.rounding)
        switch function {
        case .negative:
            return Slope(
                value: -x.value, partials: x.partials.map { -$0 }, rounding: x.rounding,
                isContinuous: x.isContinuous, hazard: x.hazard)
        case .absolute:
            let sign =
                range.lower >= 0 ? Interval(1) : range.upper <= 0 ? Interval(-1) : Interval(-1, 1)
            var result = x
            result.value = x.value.absolute
            result.partials = x.partials.map { $0 * sign }
            return result
        case .exp:
            let value = x.value.rising(exp)
            return chained(x, value, range.rising(exp), by: Self.function)
        case .tanh:
            let value = x.value.rising(tanh).intersection(Interval(-1, 1))
            let least = range.contains(0) ? 0 : min(abs(range.lower), abs(range.upper))
            let most = 1 / (cosh(least) * cosh(least))
            return chained(x, value, Interval(0, most * (1 + 0x1p-40)), by: Self.function)
        case .erf:
            let value = x.value.rising(erf).intersection(Interval(-1, 1))
            return chained(x, value, Interval(0, 1.128_379_17), by: Self.function)
        case .atan:
            return chained(x, x.value.rising(atan), Interval(0, 1), by: Self.function)
        case .sin, .cos:
            return chained(x, Interval(-1, 1), Interval(-1, 1), by: Self.function)
        case .squareRoot: return squareRoot(x, range)
        case .log: return logarithm(x, range)
        case .floor, .round: return stepped(x)
        case .roundToHalf: return stepped(x)
        }
    }

    private func squareRoot(_ x: Slope, _ range: Interval) -> Slope {
        guard range.lower > 0 else {
            var result = unknown(x, range.lower < 0 ? "a root of a number below 0" : nil)
            guard range.lower == 0 else { return result }
            result.value = x.value.rising { $0.squareRoot() }
            result.rounding = (result.value.magnitude * Self.step).nextUp
            // |√a − √b| ≤ √|a − b| has no slope.
            result.isContinuous = false
            return result
        }
        let slope = Interval(1 / (2 * range.upper.squareRoot()), 1 / (2 * range.lower.squareRoot()))
        return chained(
            x, x.value.rising { $0.squareRoot() }, slope.widened(by: slope.upper * 0x1p-40),
            by: Self.step)
    }

    private func logarithm(_ x: Slope, _ range: Interval) -> Slope {
        guard range.lower > 0 else { return unknown(x, "a logarithm of a number that may be 0") }
        let slope = Interval(1 / range.upper, 1 / range.lower)
        return chained(
            x, x.value.rising(log), slope.widened(by: slope.upper * 0x1p-40), by: Self.function)
    }

    /// A function with jumps to a neighboring integer.
    private func stepped(_ x: Slope) -> Slope {
        var result = x
        result.value = x.value.widened(by: 1)
        result.isContinuous = false
        return result
    }

    private func unknown(_ x: Slope, _ hazard: String?) -> Slope {
        Slope(
            value: .everything, partials: x.partials.map { _ in .everything }, rounding: .infinity,
            isContinuous: false, hazard: x.hazard ?? hazard)
    }
}

// MARK: Functions of two numbers

extension FormulaEvaluator {
    private func binary(_ function: Formula.Binary, _ x: Slope, _ y: Slope) -> Slope {
        var result = x
        result.isContinuous = x.isContinuous && y.isContinuous
        result.hazard = x.hazard ?? y.hazard
        switch function {
        case .add, .subtract:
            let sign = function == .add ? Interval(1) : Interval(-1)
            result.value = function == .add ? x.value + y.value : x.value - y.value
            result.partials = zip(x.partials, y.partials).map { $0 + $1 * sign }
            result.rounding = (x.rounding + y.rounding).nextUp
            return rounded(result)
        case .multiply: return rounded(product(x, y, result))
        case .divide: return quotient(x, y, result)
        case .maximum, .minimum: return extreme(function, x, y, result)
        case .power: return power(x, y, result)
        case .greater, .greaterOrEqual, .equal:
            result.value = Interval(0, 1)
            result.isContinuous = false
            return result
        }
    }

    private func product(_ x: Slope, _ y: Slope, _ start: Slope) -> Slope {
        var result = start
        result.value = x.value * y.value
        result.partials = zip(x.partials, y.partials).map { $0 * y.value + x.value * $1 }
        let parts =
            scaled(x.rounding, y.value.magnitude) + scaled(y.rounding, x.value.magnitude)
            + x.rounding * y.rounding
        result.rounding = parts == 0 ? 0 : parts * (1 + 0x1p-50)
        return result
    }

    /// A number times itself, which is not negative.
    private func square(_ x: Slope) -> Slope {
        var result = product(x, x, x)
        let size = x.value.absolute
        result.value = result.value.intersection(size * size)
        return rounded(result)
    }

    private func scaled(_ error: Double, _ factor: Double) -> Double {
        error == 0 || factor == 0 ? 0 : error * factor
    }

    private func quotient(_ x: Slope, _ y: Slope, _ start: Slope) -> Slope {
        let divisor = y.value.widened(by: y.rounding)
        guard !divisor.contains(0) else { return unknown(start, "a division by 0") }
        let least = divisor.absolute.lower
        var result = start
        result.value = x.value / y.value
        result.partials = zip(x.partials, y.partials).map { dx, dy in
            dx / y.value - (result.value * dy) / y.value
        }
        let parts = (x.rounding + scaled(y.rounding, result.value.magnitude)) / least
        result.rounding = parts == 0 ? 0 : parts * (1 + 0x1p-50)
        return rounded(result, by: Self.function)
    }

    private func extreme(
        _ function: Formula.Binary, _ x: Slope, _ y: Slope, _ start: Slope
    ) -> Slope {
        var result = start
        let isMaximum = function == .maximum
        result.value =
            isMaximum ? .maximum(x.value, y.value) : .minimum(x.value, y.value)
        let (first, second) = isMaximum ? (x, y) : (y, x)
        if first.value.lower >= second.value.upper {
            result.partials = x.partials
        } else if second.value.lower >= first.value.upper {
            result.partials = y.partials
        } else {
            result.partials = zip(x.partials, y.partials).map { $0.hull($1) }
        }
        result.rounding = max(x.rounding, y.rounding)
        return result
    }

    private func power(_ x: Slope, _ y: Slope, _ start: Slope) -> Slope {
        guard y.value.isPoint else { return unknown(start, "a power that varies") }
        let exponent = y.value.lower
        if exponent == 1 { return x }
        if exponent == 2 { return rounded(square(x), by: Self.function) }
        let range = x.value.widened(by: x.rounding)
        guard range.lower > 0 else { return unknown(start, "a power of a number that may be 0") }
        let ends = [pow(range.lower, exponent), pow(range.upper, exponent)].sorted()
        let slopes = [range.lower, range.upper].map { exponent * pow($0, exponent - 1) }.sorted()
        let margin = (ends[1] + abs(slopes[0]) + abs(slopes[1])) * 0x1p-45
        return chained(
            x, Interval(ends[0], ends[1]).widened(by: margin),
            Interval(slopes[0], slopes[1]).widened(by: margin), by: Self.function)
    }

    private func choice(
        _ formula: Formula, _ condition: Slope, _ x: Slope, _ y: Slope
    ) -> Slope {
        let range = condition.value.widened(by: condition.rounding)
        if range.lower > 0 { return x }
        if range.upper <= 0 { return y }
        return Slope(
            value: x.value.hull(y.value),
            partials: zip(x.partials, y.partials).map { $0.hull($1) },
            rounding: max(x.rounding, y.rounding),
            isContinuous: x.isContinuous && y.isContinuous && formula.isContinuousChoice,
            hazard: x.hazard ?? y.hazard)
    }
}

extension Formula {
    /// Whether the two results of a choice by an operand are equal where that is 0.
    fileprivate var isContinuousChoice: Bool {
        guard case .ifPositive(.operand(let index), let x, let y) = self else { return false }
        let zeros = [Interval](repeating: .zero, count: index + 1)
        let usesOthers = x.operands.union(y.operands) != [index]
        guard !usesOthers else { return false }
        let evaluator = FormulaEvaluator(ranges: zeros)
        let values = [x, y].map { evaluator.value(of: $0).value }
        return values[0].hull(values[1]).magnitude < 0x1p-100
    }

    /// The operands that it takes.
    private var operands: Set<Int> {
        switch self {
        case .operand(let index): [index]
        case .number: []
        case .unary(_, let x): x.operands
        case .binary(_, let x, let y): x.operands.union(y.operands)
        case .ifPositive(let condition, let x, let y):
            condition.operands.union(x.operands).union(y.operands)
        }
    }
}

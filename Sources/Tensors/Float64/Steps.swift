import Foundation
import RetintGraph

/// How the numbers inside an operation are computed: exactly, as float64 is here, or as in a
/// device's arithmetic. Operations are defined once, in these steps.
struct Steps: Sendable {
    /// Nothing is rounded.
    static let exact = Steps(arithmetic: nil, step: nil, term: nil, format: .float32, threads: 1)

    /// Nil for exact steps.
    let arithmetic: DeviceArithmetic?
    /// Rounds every step but those of sums.
    private let step: Rounding?
    /// Rounds products and partial sums.
    let term: Rounding?
    /// The format of steps.
    private let format: DeviceArithmetic.Format
    let threads: Int

    private init(
        arithmetic: DeviceArithmetic?, step: Rounding?, term: Rounding?,
        format: DeviceArithmetic.Format, threads: Int
    ) {
        (self.arithmetic, self.step, self.term) = (arithmetic, step, term)
        (self.format, self.threads) = (format, threads)
    }

    /// The steps of a node.
    ///
    /// - Parameter id: distinguishes the random bits of nodes.
    init(_ node: NodeArithmetic, id: Int, threads: Int) {
        let arithmetic = node.arithmetic
        let format = node.isHalf ? arithmetic.steps : .float32
        self.init(
            arithmetic: arithmetic, step: arithmetic.rounding(to: format, id),
            term: arithmetic.rounding(to: node.isHalf ? arithmetic.sums : .float32, id),
            format: format, threads: threads)
    }

    @inline(__always)
    func rounded(_ x: Double, at place: Int) -> Double {
        guard let step else { return x }
        return step(x, at: place)
    }
}

extension DeviceArithmetic {
    /// - Parameter id: distinguishes the random bits of nodes.
    func rounding(to format: Format, _ id: Int) -> Rounding {
        let key = mixed(seed ^ UInt64(truncatingIfNeeded: id) &* 0xd134_2543_de82_ef95)
        return Rounding(
            format, flushes: flushesSubnormals, key: rounding == .stochastic ? key : nil)
    }
}

// MARK: Functions

extension Steps {
    /// A function of a number, as the device computes it.
    func callAsFunction(_ function: Formula.Unary, _ x: Double, at place: Int = 0) -> Double {
        guard let arithmetic else { return function(x) }
        if function == .tanh, let table = table(arithmetic) {
            return rounded(table.value(x, of: Foundation.tanh), at: place)
        }
        let exact = function(x)
        guard function.isApproximated else { return rounded(exact, at: place) }
        return rounded(approximated(exact, x, 0, arithmetic), at: place)
    }

    /// A function of two numbers, as the device computes it.
    func callAsFunction(
        _ function: Formula.Binary, _ x: Double, _ y: Double, at place: Int = 0
    ) -> Double {
        let exact = function(x, y)
        guard let arithmetic else { return exact }
        guard function == .divide || function == .power else { return rounded(exact, at: place) }
        return rounded(approximated(exact, x, y, arithmetic), at: place)
    }

    /// A sigmoid read from a table; nil if it is computed by its formula.
    func tabulatedSigmoid(_ x: Double, at place: Int) -> Double? {
        guard let arithmetic, let table = table(arithmetic) else { return nil }
        return rounded(table.value(x) { 1 / (1 + Foundation.exp(-$0)) }, at: place)
    }

    var hasTable: Bool { arithmetic.flatMap(table) != nil }

    private func table(_ arithmetic: DeviceArithmetic) -> FunctionTable? {
        guard format == .float16 else { return nil }
        return arithmetic.sigmoidSegments.map(FunctionTable.init)
    }

    /// The result with a relative error within the bound, which depends on the operands alone, as
    /// that of a device's function does.
    private func approximated(
        _ exact: Double, _ x: Double, _ y: Double, _ arithmetic: DeviceArithmetic
    ) -> Double {
        guard let bits = arithmetic.functionBits else { return exact }
        let hash = mixed(x.bitPattern ^ mixed(y.bitPattern ^ arithmetic.seed))
        let unit = Double(Int64(bitPattern: hash)) * 0x1p-63
        let power = format == .float16 ? bits : 2 * bits
        return exact * (1 + unit * Double(sign: .plus, exponent: -power, significand: 1))
    }
}

extension Formula.Unary {
    /// Whether devices compute it by an approximation.
    fileprivate var isApproximated: Bool {
        switch self {
        case .squareRoot, .exp, .log, .erf, .sin, .cos, .atan, .tanh: true
        case .negative, .absolute, .floor, .round, .roundToHalf: false
        }
    }
}

/// A function by linear interpolation between the ends of segments over −8…8, and constant outside.
private struct FunctionTable {
    let segments: Int

    private static let bound = 8.0

    func value(_ x: Double, of function: (Double) -> Double) -> Double {
        guard !x.isNaN else { return x }
        let place = (min(max(x, -Self.bound), Self.bound) + Self.bound) * scale
        let start = min(place.rounded(.down), Double(segments - 1))
        let (low, high) = (function(knot(start)), function(knot(start + 1)))
        return low + (high - low) * (place - start)
    }

    private var scale: Double { Double(segments) / (2 * Self.bound) }

    private func knot(_ index: Double) -> Double { index / scale - Self.bound }
}

// MARK: Sums

extension Steps {
    /// A partial sum with one more term.
    @inline(__always)
    func added(_ sum: Double, _ value: Double, _ place: Int) -> Double {
        guard let term else { return sum + value }
        return term(sum + value, at: place)
    }

    /// A product that is a term of a sum: rounded, unless it is added by a fused multiply-add.
    @inline(__always)
    func product(_ x: Double, _ y: Double, _ place: Int) -> Double {
        guard let term, arithmetic?.fusesProducts == false else { return x * y }
        return term(x * y, at: place)
    }

    /// The sum of terms that are already rounded.
    ///
    /// - Parameter plan: that of ``plan(_:)`` for their number.
    func sum(
        _ plan: SumPlan, at place: Int = 0, _ term: (Int) -> Double
    ) -> Double {
        guard let rounding = self.term else { return plan.sum(term, +) }
        return plan.sum(term) { rounding($0 + $1, at: place) }
    }

    /// How sums of some number of terms are added.
    func plan(_ count: Int) -> SumPlan {
        SumPlan(arithmetic?.order ?? .sequential, count: count)
    }
}

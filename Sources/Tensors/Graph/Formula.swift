/// What an elementwise operation computes: an expression of one element of each operand. It is the
/// operation's only definition, which every backend reads: the reference evaluates it, others map
/// it to their loops or print it as the source of a kernel.
///
///     sigmoid: 1 / (1 + .exp(-x))
package indirect enum Formula: Hashable, Sendable {
    /// The element of an operand, counted from 0.
    case operand(Int)
    case number(Double)
    case unary(Unary, Formula)
    case binary(Binary, Formula, Formula)
    /// The second where the first is above 0, else the third, which is also taken where it is NaN.
    case ifPositive(Formula, Formula, Formula)

    /// A function of one number.
    package enum Unary: String, CaseIterable, Sendable {
        case negative, absolute, squareRoot, exp, log, erf, sin, cos, atan, tanh
        /// The largest integer that is not above the number.
        case floor
        /// The nearest integer, ties to even.
        case round
        /// The nearest half-precision number, ties to even; infinity beyond the largest.
        case roundToHalf
    }

    /// A function of two numbers.
    package enum Binary: String, CaseIterable, Sendable {
        case add, subtract, multiply, divide, power
        /// NaN if either is NaN.
        case maximum, minimum
        /// 1 where it holds, else 0.
        case greater, greaterOrEqual, equal
    }
}

extension Formula: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(integerLiteral value: Int) { self = .number(Double(value)) }
    package init(_ value: Float) { self = .number(Double(value)) }
}

extension Formula {
    package static prefix func - (x: Formula) -> Formula { .unary(.negative, x) }
    package static func + (x: Formula, y: Formula) -> Formula { .binary(.add, x, y) }
    package static func - (x: Formula, y: Formula) -> Formula { .binary(.subtract, x, y) }
    package static func * (x: Formula, y: Formula) -> Formula { .binary(.multiply, x, y) }
    package static func / (x: Formula, y: Formula) -> Formula { .binary(.divide, x, y) }
    package static func exp(_ x: Formula) -> Formula { .unary(.exp, x) }
    package static func max(_ x: Formula, _ y: Formula) -> Formula { .binary(.maximum, x, y) }
    package static func min(_ x: Formula, _ y: Formula) -> Formula { .binary(.minimum, x, y) }

    /// Limited to `lower`…`upper`; NaN stays NaN.
    package func clipped(_ lower: Formula, _ upper: Formula) -> Formula {
        .min(.max(self, lower), upper)
    }
}

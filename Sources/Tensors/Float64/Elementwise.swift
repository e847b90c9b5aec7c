import Foundation
import RetintGraph
import RetintTensors

extension ElementwiseOperation {
    /// The elements of the result: the formula, one function after another over all elements.
    func float64(
        _ inputs: [Float64Array], shape: Shape, _ steps: Steps = .exact
    ) -> [Double] {
        FormulaEvaluation(operands: inputs, shape: shape, steps: steps).values(of: formula)
    }
}

/// Evaluates a formula for all elements of a result.
private struct FormulaEvaluation {
    let operands: [Float64Array]
    let shape: Shape
    let steps: Steps

    /// One number for all elements, or one for each.
    private enum Value {
        case number(Double)
        case elements([Double])
    }

    func values(of formula: Formula) -> [Double] {
        switch value(of: formula) {
        case .number(let number): [Double](repeating: number, count: shape.count)
        case .elements(let elements): elements
        }
    }

    private func value(of formula: Formula) -> Value {
        if steps.hasTable, let x = formula.sigmoidOperand { return sigmoid(of: value(of: x)) }
        switch formula {
        case .operand(let index):
            let operand = operands[index]
            return operand.shape.count == 1
                ? .number(operand[0]) : .elements(repeated(operand, to: shape))
        case .number(let number): return .number(steps.rounded(number, at: 0))
        case .unary(let function, let x): return apply(function, value(of: x))
        case .binary(let function, let x, let y):
            return apply(function, value(of: x), value(of: y))
        case .ifPositive(let condition, let x, let y):
            let (x, y) = (values(of: x), values(of: y))
            return .elements(
                values(of: condition).enumerated().map { $1 > 0 ? x[$0] : y[$0] })
        }
    }

    private func apply(_ function: Formula.Unary, _ x: Value) -> Value {
        switch x {
        case .number(let x): .number(steps(function, x))
        case .elements(let x): .elements(x.enumerated().map { steps(function, $1, at: $0) })
        }
    }

    private func apply(_ function: Formula.Binary, _ x: Value, _ y: Value) -> Value {
        switch (x, y) {
        case (.number(let x), .number(let y)): .number(steps(function, x, y))
        case (.elements(let x), .number(let y)):
            .elements(x.enumerated().map { steps(function, $1, y, at: $0) })
        case (.number(let x), .elements(let y)):
            .elements(y.enumerated().map { steps(function, x, $1, at: $0) })
        case (.elements(let x), .elements(let y)):
            .elements(x.indices.map { steps(function, x[$0], y[$0], at: $0) })
        }
    }

    private func sigmoid(of x: Value) -> Value {
        func value(_ x: Double, _ place: Int) -> Double {
            steps.tabulatedSigmoid(x, at: place) ?? .nan
        }
        switch x {
        case .number(let x): return .number(value(x, 0))
        case .elements(let x): return .elements(x.enumerated().map { value($1, $0) })
        }
    }
}

extension Formula {
    /// x of 1 / (1 + e⁻ˣ); nil for another formula.
    package var sigmoidOperand: Formula? {
        guard
            case .binary(.divide, 1, .binary(.add, 1, .unary(.exp, .unary(.negative, let x)))) =
                self
        else { return nil }
        return x
    }
}

/// The larger number; NaN if either is NaN, as in PyTorch.
func larger(_ x: Double, _ y: Double) -> Double { x > y || x.isNaN ? x : y }

extension Formula.Unary {
    func callAsFunction(_ x: Double) -> Double {
        switch self {
        case .negative: -x
        case .absolute: x.magnitude
        case .squareRoot: x.squareRoot()
        case .exp: Foundation.exp(x)
        case .log: Foundation.log(x)
        case .erf: Foundation.erf(x)
        case .sin: Foundation.sin(x)
        case .cos: Foundation.cos(x)
        case .atan: Foundation.atan(x)
        case .tanh: Foundation.tanh(x)
        case .floor: x.rounded(.down)
        case .round: x.rounded(.toNearestOrEven)
        case .roundToHalf: Double(Float16(x))
        }
    }
}

extension Formula.Binary {
    func callAsFunction(_ x: Double, _ y: Double) -> Double {
        switch self {
        case .add: x + y
        case .subtract: x - y
        case .multiply: x * y
        case .divide: x / y
        case .power: Foundation.pow(x, y)
        case .maximum: larger(x, y)
        case .minimum: x < y || x.isNaN ? x : y
        case .greater: x > y ? 1 : 0
        case .greaterOrEqual: x >= y ? 1 : 0
        case .equal: x == y ? 1 : 0
        }
    }
}

import Foundation
import RetintGraph
import RetintTensors

extension ElementwiseOperation {
    /// The elements of the result: the formula, one function after another over all elements.
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        FormulaEvaluation(operands: inputs, shape: shape).values(of: formula)
    }
}

/// Evaluates a formula for all elements of a result.
private struct FormulaEvaluation {
    let operands: [Float64Array]
    let shape: Shape

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
        switch formula {
        case .operand(let index):
            let operand = operands[index]
            return operand.shape.count == 1
                ? .number(operand[0]) : .elements(repeated(operand, to: shape))
        case .number(let number): return .number(number)
        case .unary(let function, let x):
            switch value(of: x) {
            case .number(let x): return .number(function(x))
            case .elements(let x): return .elements(x.map { function($0) })
            }
        case .binary(let function, let x, let y):
            switch (value(of: x), value(of: y)) {
            case (.number(let x), .number(let y)): return .number(function(x, y))
            case (.elements(let x), .number(let y)):
                return .elements(x.map { function($0, y) })
            case (.number(let x), .elements(let y)):
                return .elements(y.map { function(x, $0) })
            case (.elements(let x), .elements(let y)):
                return .elements(zip(x, y).map { function($0, $1) })
            }
        case .ifPositive(let condition, let x, let y):
            let (x, y) = (values(of: x), values(of: y))
            return .elements(
                values(of: condition).enumerated().map { $1 > 0 ? x[$0] : y[$0] })
        }
    }
}

/// The larger number; NaN if either is NaN, as in PyTorch.
func larger(_ x: Double, _ y: Double) -> Double { x > y || x.isNaN ? x : y }

extension Formula.Unary {
    fileprivate func callAsFunction(_ x: Double) -> Double {
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
    fileprivate func callAsFunction(_ x: Double, _ y: Double) -> Double {
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

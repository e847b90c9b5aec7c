import RetintGraph
import RetintTensors

/// The bounds of an operation's result from those of its operands.
///
/// The arithmetic: results of elementwise steps are rounded to float32, functions have a relative
/// error of up to 2⁻²⁰, and sums are added in float32 in any order. Results that a package declares
/// as float16 are then rounded to that, by an operation of their own.
struct BoundRules {
    /// Half a unit in the last place of float32.
    static let unit = 0x1p-24
    static let smallest = 0x1p-149

    let node: Graph.Node
    let operands: [BoundArray]
    /// The values of operands that are the same for all inputs.
    let constants: [[Double]?]
    private(set) var hazard: String?

    init(_ node: Graph.Node, _ operands: [BoundArray], constants: [[Double]?]) {
        (self.node, self.operands, self.constants) = (node, operands, constants)
    }

    var shape: [Int] { node.shape.dimensions }

    /// The bounds; nil if there is no rule for the operation.
    mutating func result() -> BoundArray? {
        switch node.operation {
        case is RoundToHalf: return halved()
        case let operation as any ElementwiseOperation:
            return elementwise(operation.formula.joiningOperands(node.inputs))
        case let operation as Convolution: return convolution(operation)
        case let operation as ConvolutionTranspose: return transposedConvolution(operation)
        case let operation as MatMul: return matrixProduct(operation)
        case let operation as BatchNormInference: return batchNorm(operation)
        case let operation as Softmax: return softmax(operation.axis)
        case let operation as Sum: return sum(operation, isMean: false)
        case let operation as Mean: return sum(operation, isMean: true)
        case let operation as Max: return maximum(operation)
        default: return pooled() ?? moved()
        }
    }

    private func halved() -> BoundArray {
        var result = operands[0].map(\.roundedToHalf)
        if var shares = operands[0].shares {
            let count = Double(shape[shares.axis])
            shares.error += (1 + shares.error) * 0x1p-11 + count * 0x1p-25
            result.shares = shares
        }
        return result
    }

    mutating private func elementwise(_ formula: Formula) -> BoundArray {
        let rank = shape.count
        var extents = [Int](repeating: 1, count: rank)
        for operand in operands {
            for (axis, extent) in operand.extents.enumerated() {
                let place = rank - operand.extents.count + axis
                extents[place] = max(extents[place], extent)
            }
        }
        let places = operands.map { $0.places(in: extents) }
        var known: [[Bound]: Bound] = [:]
        let elements = (0..<Shape(extents).count).map { index in
            let bounds = zip(operands, places).map { $0.elements[$1[index]] }
            if let bound = known[bounds] { return bound }
            let (bound, hazard) = FormulaBounds(formula: formula, operands: bounds).bound()
            self.hazard = self.hazard ?? hazard
            known[bounds] = bound
            return bound
        }
        return BoundArray(shape: shape, extents: extents, elements: elements)
    }

    /// A result with an error of its own, in float32.
    func rounded(_ bound: Bound, terms: Int, magnitude: Double) -> Bound {
        let count = Double(terms + 2)
        // Of sums in float32, and of these here in float64.
        let share = count * Self.unit / (1 - count * Self.unit)
        let own = magnitude * count * 0x1p-52
        let error = magnitude * share + Self.smallest
        return Bound(
            exact: bound.exact.widened(by: own), computed: bound.computed.widened(by: own + error),
            error: (bound.error * (1 + 0x1p-40) + error).nextUp
        ).tightened
    }
}

extension Formula {
    /// The formula with one operand for all that are the same value of a graph.
    fileprivate func joiningOperands(_ nodes: [Int]) -> Formula {
        guard Set(nodes).count < nodes.count else { return self }
        switch self {
        case .operand(let index):
            return .operand(nodes.firstIndex(of: nodes[index]) ?? index)
        case .number: return self
        case .unary(let function, let x): return .unary(function, x.joiningOperands(nodes))
        case .binary(let function, let x, let y):
            return .binary(function, x.joiningOperands(nodes), y.joiningOperands(nodes))
        case .ifPositive(let condition, let x, let y):
            return .ifPositive(
                condition.joiningOperands(nodes), x.joiningOperands(nodes),
                y.joiningOperands(nodes))
        }
    }
}

extension Bound {
    private static let largest = Double(Float16.greatestFiniteMagnitude)

    /// Whether rounding to half precision may give infinity.
    var mayOverflowHalf: Bool { !(computed.magnitude < 65_520) }

    /// Half a unit in the last place of the number in half precision.
    static func halfUnit(_ magnitude: Double) -> Double {
        guard magnitude < largest else { return 16 }
        return Double(Float16(magnitude).ulp) / 2
    }

    /// The bound on the number in half precision, as far as that is finite.
    var roundedToHalf: Bound {
        func half(_ number: Double) -> Double {
            min(max(Double(Float16(number)), -Self.largest), Self.largest)
        }
        return Bound(
            exact: exact, computed: Interval(half(computed.lower), half(computed.upper)),
            error: (error + Self.halfUnit(computed.magnitude)).nextUp
        ).tightened
    }
}

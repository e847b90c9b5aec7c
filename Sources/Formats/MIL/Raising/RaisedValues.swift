import RetintGraph
import RetintMLPackage
import RetintTensors

/// The values that a program has defined so far.
final class RaisedValues {
    private enum Value {
        case tensor(Tensor, MILDataType)
        case constant(MILValue)
    }

    private var values: [String: Value] = [:]
    /// Whether float32 constants are rounded to half precision.
    private let roundsToHalf: Bool
    /// The values of constants that became variables of the graph, by name.
    private(set) var variables: [String: TensorData] = [:]

    /// Constants with more elements become variables, which keeps the graph small and quick to
    /// compare.
    private static let largestConstant = 9

    init(roundsToHalf: Bool) {
        self.roundsToHalf = roundsToHalf
    }

    /// The elements and nodes that operations may still add to the graph by themselves.
    private var budget = 1 << 26

    /// Takes from what operations may add to the graph, so that a small file cannot exhaust memory.
    func take(_ count: Int) throws(ShapeError) {
        try require(count <= budget, "it makes the constants of the network too large")
        budget -= count
    }

    func define(_ name: String, _ tensor: Tensor, _ type: MILDataType) {
        values[name] = .tensor(tensor, type)
    }

    func define(_ name: String, constant: MILValue) { values[name] = .constant(constant) }

    /// The constants that follow from the sizes of values.
    private(set) var sizes: Set<String> = []

    func define(_ name: String, size: MILValue) {
        define(name, constant: size)
        sizes.insert(name)
    }

    func constant(_ name: String) -> MILValue? {
        if case .constant(let value)? = values[name] { value } else { nil }
    }

    /// All values that are not constants, by name.
    var computed: [String: Tensor] {
        values.compactMapValues { if case .tensor(let tensor, _) = $0 { tensor } else { nil } }
    }

    /// A value that is not a constant.
    func computed(_ name: String) -> Tensor? {
        if case .tensor(let tensor, _)? = values[name] { tensor } else { nil }
    }

    /// The type that the program declares for a value.
    func dataType(_ name: String) -> MILDataType? {
        switch values[name] {
        case .tensor(_, let type): type
        case .constant(let value): value.type.dataType
        case nil: nil
        }
    }

    /// A value as a tensor, in which booleans are 0 and 1; nil for undefined names and for texts.
    func tensor(_ name: String, in graph: Graph) throws -> Tensor? {
        switch values[name] {
        case .tensor(let tensor, _): return tensor
        case .constant(let value) where value.type.dataType.isFloat:
            let tensor = try tensor(of: value, name: name, in: graph)
            let needsRounding = roundsToHalf && value.type.dataType != .float16
            return needsRounding ? tensor.applying(RoundToHalf()) : tensor
        case .constant(let value) where value.type.dataType != .string:
            return try tensor(of: value, name: name, in: graph)
        default: return nil
        }
    }

    private func tensor(of value: MILValue, name: String, in graph: Graph) throws -> Tensor {
        let shape = Shape(value.type.shape ?? [])
        if shape.count > Self.largestConstant {
            if variables[name] == nil { variables[name] = try TensorData(value) }
            return graph.variable(name, shape, role: .parameter)
        }
        return graph.constant(try TensorData(value))
    }
}

import RetintMIL
import RetintMLPackage

/// A MIL operation that is being written.
struct WrittenOperation: OperationParameters {
    let operation: MILOperation
    let place: String
    private let values: WrittenValues

    init(_ operation: MILOperation, place: String, _ values: WrittenValues) {
        (self.operation, self.place, self.values) = (operation, place, values)
    }

    /// The type of the first result.
    var type: MILTensorType { operation.outputs[0].type }

    func constantValue(_ name: String) throws -> MILValue? { try values.constants.value(name) }

    /// A tensor, computed or constant.
    func value(_ parameter: String) throws -> WrittenValue {
        try values.value(try argument(parameter), for: self)
    }

    func optionalValue(_ parameter: String) throws -> WrittenValue? {
        has(parameter) ? try value(parameter) : nil
    }

    /// The tensors of a parameter that takes a list.
    func valueList(_ parameter: String) throws -> [WrittenValue] {
        try arguments(parameter).map { try values.value($0, for: self) }
    }

    /// The elements of a constant that has one for each channel.
    func channels(_ parameter: String, default value: Float, count: Int) throws -> [Float] {
        guard let constant = try constant(parameter) else {
            return [Float](repeating: value, count: count)
        }
        let values = try constant.floats()
        guard values.count == count else {
            throw error("its parameter \(parameter) has \(values.count) values")
        }
        return values
    }
}

/// The values of a program that is being written, by name.
final class WrittenValues {
    let constants = ProgramConstants()
    private let graph: GraphWriter
    private var written: [String: WrittenValue] = [:]
    /// Compressed weights that no operation has used yet.
    private var compressed: [String: WrittenOperation] = [:]

    init(_ graph: GraphWriter) { self.graph = graph }

    func define(_ name: String, _ value: WrittenValue) { written[name] = value }

    /// Adds a constant, which is written where a tensor is needed.
    func define(constant operation: MILOperation, place: String) throws {
        try constants.define(operation, place: place)
        guard operation.isConstantExpression else { return }
        let weights = WrittenOperation(operation, place: place, self)
        for output in operation.outputs { compressed[output.name] = weights }
    }

    func value(
        _ argument: MILArgument, for operation: WrittenOperation
    ) throws -> WrittenValue {
        switch argument {
        case .value(let value): return try graph.constant(value)
        case .name(let name):
            guard let value = try value(name) else {
                throw operation.error("\(name) is not defined before its use")
            }
            return value
        }
    }

    /// A value by its name; a constant is written when it is first used.
    func value(_ name: String) throws -> WrittenValue? {
        if let value = written[name] { return value }
        if let weights = compressed[name],
            let writer = OperationForms.writers[weights.operation.type]
        {
            let value = try writer(graph, weights)[0]
            written[name] = value
            return value
        }
        // Weights of a kind that the dialect has no operation for are unpacked here.
        guard let constant = try constants.value(name) else { return nil }
        let value = try graph.constant(constant)
        written[name] = value
        return value
    }
}

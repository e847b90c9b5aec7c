import RetintGraph
import RetintMLPackage
import RetintTensors

/// A MIL operation that is being raised to the graph, with access to its parameters by name.
package struct RaisedOperation: OperationParameters {
    package let operation: MILOperation
    package let place: String
    let graph: Graph
    let values: RaisedValues

    package func constantValue(_ name: String) -> MILValue? { values.constant(name) }

    /// A tensor, computed or constant.
    func tensor(_ parameter: String) throws -> Tensor {
        try tensor(try argument(parameter), parameter)
    }

    /// A constant parameter, or nil if it is computed.
    func known(_ parameter: String) throws -> MILValue? {
        switch try argument(parameter) {
        case .value(let value): value
        case .name(let name): values.constant(name)
        }
    }

    /// The type of a parameter.
    func dataType(_ parameter: String) -> MILDataType? {
        switch try? argument(parameter) {
        case .value(let value): value.type.dataType
        case .name(let name): values.dataType(name)
        case nil: nil
        }
    }

    func optionalTensor(_ parameter: String) throws -> Tensor? {
        has(parameter) ? try tensor(parameter) : nil
    }

    /// The tensors of a parameter that takes a list.
    func tensors(_ parameter: String) throws -> [Tensor] {
        try arguments(parameter).map { try tensor($0, parameter) }
    }

    private func tensor(_ argument: MILArgument, _ parameter: String) throws -> Tensor {
        switch argument {
        case .name(let name):
            guard let tensor = try values.tensor(name, in: graph) else {
                throw error("parameter \(parameter): \(name) is not a tensor of numbers")
            }
            return tensor
        case .value(let value):
            return graph.constant(try TensorData(value))
        }
    }
}

/// Its results.
extension RaisedOperation {
    /// The operation's outputs, in order.
    func results() throws -> [Tensor] {
        guard let form = OperationForms.raising(type) else { throw unknown() }
        let results = try graph.inModule(operation.name) {
            Result { try form.raise(self) }
        }.get()
        if let error = graph.error { throw Self.damaged(place, error.reason) }
        return results
    }

    /// Runs `body`, and throws its errors as those of the operation.
    func naming(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as ShapeError {
            throw Self.damaged(place, error.reason)
        } catch let error as MLPackageError {
            throw ConversionError(
                file: error.file, place: "\(place), \(error.place)", rule: error.rule,
                remedy: error.remedy)
        }
    }

    static func damaged(_ place: String, _ rule: String) -> ConversionError {
        ConversionError(place: place, rule: rule, remedy: ConversionError.damaged)
    }

    private func unknown() -> ConversionError {
        let outputs = operation.outputs.map(\.name).joined(separator: ", ")
        return ConversionError(
            place: place,
            rule: "the operation type \(type) (output \(outputs)) is not supported",
            remedy: "Convert the network without it.")
    }
}

extension ConversionError {
    /// What is to say of an operation whose values do not fit.
    package static var damaged: String { "The package is damaged or uses an unsupported feature." }
}

extension Shape {
    /// An upper bound for the elements of any tensor that a program can be run with.
    package static let largestCount = 1 << 31

    /// The number of elements; nil if a dimension is below 1 or the product is above
    /// ``largestCount``.
    package var boundedCount: Int? {
        var count = 1
        for size in dimensions {
            guard (1...Self.largestCount).contains(size) else { return nil }
            count *= size
            if count > Self.largestCount { return nil }
        }
        return count
    }
}

extension TensorData {
    /// The values of a constant; booleans are 0 and 1, and integers are exact below 2²⁴.
    init(_ value: MILValue) throws {
        let scalars: [Float] =
            switch value.type.dataType {
            case .bool: try value.bools().map { $0 ? 1 : 0 }
            case let type where type.isFloat: try value.floats()
            default: try value.integers().map(Float.init)
            }
        self.init(shape: Shape(value.type.shape ?? []), scalars: scalars)
    }
}

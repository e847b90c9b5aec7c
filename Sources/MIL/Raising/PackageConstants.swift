import MLPackage
import TensorGraph

/// The float arrays that the operations of a package's program use, decompressed.
package struct PackageConstants {
    private struct Weight {
        let name: String
        let value: MILValue
    }

    /// In the order of their first use.
    private var weights: [Weight] = []
    /// The number of arrays by storage: `fp32`, `fp16`, or the type of the operation that
    /// decompresses them.
    package private(set) var storage: [String: Int] = [:]

    private let values = RaisedValues(roundsToHalf: false)
    /// The storage of each constant, by name.
    private var forms: [String: String] = [:]
    private var names: Set<String> = []

    /// - Throws: ``ConversionError`` or `MLPackageError` for weights that cannot be decompressed.
    package init(_ package: MLPackage) throws {
        for (index, operation) in package.program.operations.enumerated() {
            if let value = operation.constantValue, let output = operation.outputs.first {
                define(output.name, value, "\(value.type.dataType)")
            } else if operation.isConstantExpression {
                try unpack(operation, index)
            } else {
                use(operation)
            }
        }
    }

    /// The arrays as float32, in the order of their first use.
    package func tensors() throws -> [(name: String, data: TensorData)] {
        try weights.map { ($0.name, try TensorData($0.value)) }
    }

    private mutating func define(_ name: String, _ value: MILValue, _ form: String) {
        values.define(name, constant: value)
        forms[name] = form
    }

    private mutating func unpack(_ operation: MILOperation, _ index: Int) throws {
        let raised = RaisedOperation(
            operation: operation, place: operation.place(index), graph: Graph(), values: values)
        for (output, value) in zip(operation.outputs, try raised.decompressed()) {
            define(output.name, value, operation.type)
        }
    }

    private mutating func use(_ operation: MILOperation) {
        for (parameter, arguments) in operation.inputs.sorted(by: { $0.key < $1.key }) {
            for argument in arguments {
                switch argument {
                case .name(let name):
                    if let value = values.constant(name) { add(name, value, forms[name]) }
                case .value(let value):
                    add("\(operation.name)_\(parameter)", value, "\(value.type.dataType)")
                }
            }
        }
    }

    private mutating func add(_ name: String, _ value: MILValue, _ form: String?) {
        guard value.type.dataType.isFloat, value.type.rank > 0, names.insert(name).inserted else {
            return
        }
        weights.append(Weight(name: name, value: value))
        storage[form ?? "", default: 0] += 1
    }
}

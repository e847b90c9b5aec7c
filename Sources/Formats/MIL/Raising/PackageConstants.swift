import RetintGraph
import RetintMLPackage
import RetintTensors

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

    private let values = ProgramConstants()
    /// The storage of each constant, by name.
    private var forms: [String: String] = [:]
    private var names: Set<String> = []

    /// - Throws: ``ConversionError`` or `MLPackageError` for weights that cannot be decompressed.
    package init(_ package: MLPackage) throws {
        for (index, operation) in package.program.operations.enumerated() {
            if operation.isConstant || operation.isConstantExpression {
                try define(operation, place: operation.place(index))
            } else {
                try use(operation)
            }
        }
    }

    /// The arrays, in the order of their first use.
    package var arrays: [(name: String, value: MILValue)] { weights.map { ($0.name, $0.value) } }

    /// The arrays as float32, in the order of their first use.
    package func tensors() throws -> [(name: String, data: TensorData)] {
        try weights.map { ($0.name, try TensorData($0.value)) }
    }

    private mutating func define(_ operation: MILOperation, place: String) throws {
        try values.define(operation, place: place)
        for output in operation.outputs {
            forms[output.name] =
                operation.isConstant ? "\(output.type.dataType)" : operation.type
        }
    }

    private mutating func use(_ operation: MILOperation) throws {
        for (parameter, arguments) in operation.inputs.sorted(by: { $0.key < $1.key }) {
            for argument in arguments {
                switch argument {
                case .name(let name):
                    if let value = try values.value(name) { add(name, value, forms[name]) }
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

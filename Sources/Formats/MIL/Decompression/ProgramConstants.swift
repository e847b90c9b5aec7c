import RetintGraph
import RetintMLPackage

/// The constants of a program by name, decompressed on demand.
package final class ProgramConstants {
    private let values = RaisedValues(roundsToHalf: false)
    /// The operations that decompress weights and have not run, by the names of their outputs.
    private var packed: [String: RaisedOperation] = [:]

    package init() {}

    /// Adds a `const` or an operation that decompresses weights.
    ///
    /// - Throws: as `value(_:)` does for weights that the operation is given.
    package func define(_ operation: MILOperation, place: String) throws {
        if let value = operation.constantValue, let output = operation.outputs.first {
            values.define(output.name, constant: value)
        } else if operation.isConstantExpression {
            let raised = RaisedOperation(
                operation: operation, place: place, graph: Graph(), values: values)
            // Now rather than later, so that a long chain of them causes no deep recursion.
            for name in operation.inputs.values.joined().compactMap(\.name) {
                _ = try value(name)
            }
            for output in operation.outputs { packed[output.name] = raised }
        }
    }

    /// The value of a constant; nil for any other value.
    ///
    /// - Throws: ``ConversionError`` or `MLPackageError` if it cannot be decompressed.
    package func value(_ name: String) throws -> MILValue? {
        if let raised = packed[name] { try unpack(raised) }
        return values.constant(name)
    }

    private func unpack(_ raised: RaisedOperation) throws {
        let outputs = raised.operation.outputs
        for output in outputs { packed[output.name] = nil }
        for (output, value) in zip(outputs, try raised.decompressed()) {
            values.define(output.name, constant: value)
        }
    }
}

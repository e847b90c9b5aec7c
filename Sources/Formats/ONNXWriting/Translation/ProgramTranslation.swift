import RetintMIL
import RetintMLPackage
import RetintONNXProto

/// Translates a program to a graph, from its inputs to its outputs.
final class ProgramTranslation {
    let graph: GraphBuilder
    let types: [String: MILTensorType]
    let constants = ProgramConstants()
    /// Whether the model determines the version of the operators.
    private let isOpsetFree: Bool
    private let program: MILProgram
    /// The constants that no node has used yet.
    private var unused: [String: TranslatedOperation] = [:]
    private var notes = Notes()

    init(_ program: MILProgram, opset: Int, isOpsetFree: Bool) {
        self.program = program
        self.isOpsetFree = isOpsetFree
        types = program.types
        graph = GraphBuilder(opset: opset, reserving: Set(types.keys))
    }

    /// - Throws: ``OpsetNeeded``, `ConversionError` or `MLPackageError`.
    func translate() throws -> Notes {
        for (index, operation) in program.operations.enumerated() {
            let place = operation.place(index)
            do {
                try translate(operation, place)
            } catch let error as MLPackageError {
                throw ConversionError(
                    file: error.file, place: "\(place), \(error.place)", rule: error.rule,
                    remedy: error.remedy)
            }
        }
        for output in program.outputs { try emitConstant(output) }
        return notes
    }

    private func translate(_ operation: MILOperation, _ place: String) throws {
        let translated = TranslatedOperation(
            operation: operation, place: place, translation: self)
        if operation.isConstant || operation.isConstantExpression {
            try constants.define(operation, place: place)
            for output in operation.outputs { unused[output.name] = translated }
            return
        }
        guard let form = OperationForms.forms[operation.type] else {
            throw translated.error(
                "the operation type \(operation.type) cannot be written as ONNX")
        }
        for output in operation.outputs { try checkType(output.type.dataType, place) }
        try form(translated)
    }

    /// Writes a constant when it is used as a tensor for the first time.
    func emitConstant(_ name: String) throws {
        guard let translated = unused.removeValue(forKey: name) else { return }
        if let value = translated.operation.constantValue {
            try checkType(value.type.dataType, translated.place)
            return graph.define(value, as: name)
        }
        guard let form = OperationForms.weights[translated.operation.type] else {
            throw translated.error(
                "weights compressed by \(translated.operation.type) are not supported")
        }
        try form(translated)
    }

    /// ONNX's type of the same elements.
    @discardableResult
    func checkType(
        _ dataType: MILDataType, _ place: String
    ) throws -> ONNXTensorProto.DataType {
        guard let type = dataType.onnxType else {
            throw ConversionError(
                place: place, rule: "ONNX has no tensors of \(dataType)",
                remedy: "Convert the network without it.")
        }
        return type
    }

    /// Whether the version of the operators is at least `opset`, if it may be: where the model
    /// chooses, it becomes that version.
    func has(opset: Int, for what: String, _ place: String) throws -> Bool {
        if graph.opset < opset, isOpsetFree {
            throw OpsetNeeded(opset: opset, place: place, what: what)
        }
        return graph.opset >= opset
    }

    /// Records something about a value that ONNX cannot express.
    func note(_ what: String, about name: String) { notes.add(what, about: name) }
}

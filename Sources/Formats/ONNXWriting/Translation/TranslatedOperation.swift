import RetintMIL
import RetintMLPackage

/// An operation of MIL that becomes nodes of ONNX.
struct TranslatedOperation: OperationParameters {
    let operation: MILOperation
    let place: String
    let translation: ProgramTranslation

    private var graph: GraphBuilder { translation.graph }

    /// The version of ONNX's operators.
    var opset: Int { graph.opset }

    /// The name of the first output, from which others are derived.
    var name: String { operation.outputs.first?.name ?? operation.name }

    /// The type of the first output.
    var type: MILTensorType { operation.outputs.first?.type ?? MILTensorType(.float32) }

    func constantValue(_ name: String) throws -> MILValue? {
        try translation.constants.value(name)
    }

    /// Asks for a later version of the operators if `what` needs it.
    func require(opset: Int, for what: String) throws {
        guard self.opset < opset else { return }
        throw OpsetNeeded(opset: opset, place: place, what: what)
    }
}

/// Arguments.
extension TranslatedOperation {
    /// The name of a parameter's value.
    ///
    /// - Parameter dataType: if not nil, a value of another type is cast to it.
    func tensor(_ parameter: String, as dataType: MILDataType? = nil) throws -> String {
        let value = try tensor(try argument(parameter), parameter)
        guard let dataType, try type(of: parameter).dataType != dataType else { return value }
        return try cast(value, to: dataType)
    }

    /// The names of the values of a parameter that takes a list.
    func tensors(_ parameter: String) throws -> [String] {
        try arguments(parameter).map { try tensor($0, parameter) }
    }

    func type(of parameter: String) throws -> MILTensorType {
        switch try argument(parameter) {
        case .value(let value): return value.type
        case .name(let name):
            guard let type = translation.types[name] else {
                throw error("\(name) is not defined", "The package is damaged: export it again.")
            }
            return type
        }
    }

    private func tensor(_ argument: MILArgument, _ parameter: String) throws -> String {
        switch argument {
        case .value(let value): return try constant(value, parameter)
        case .name(let name):
            try translation.emitConstant(name)
            return name
        }
    }
}

/// Constants.
extension TranslatedOperation {
    func constant(_ value: MILValue, _ word: String) throws -> String {
        try translation.checkType(value.type.dataType, place)
        return graph.constant(value, name: "\(name)_\(word)")
    }

    /// A scalar of a float type.
    func number(
        _ value: Float, _ word: String, as dataType: MILDataType? = nil
    ) throws -> String {
        let dataType = dataType ?? type.dataType
        guard dataType.isFloat else {
            throw error("a value of type \(dataType) is not supported here; floats are")
        }
        return try constant(.float(value, as: dataType), word)
    }

    /// A vector of int64, as ONNX takes shapes and axes.
    func integers(_ values: [Int], _ word: String) throws -> String {
        let type = MILTensorType(.int64, [values.count])
        let content = MILValue.Content.longIntegers(values.map { Int64($0) })
        return try constant(MILValue(type: type, content: content), word)
    }
}

/// Nodes.
extension TranslatedOperation {
    /// Adds the node that computes the operation's outputs.
    func result(_ type: String, _ inputs: [String], _ attributes: Attributes = [:]) {
        graph.node(type, inputs, attributes, outputs: operation.outputs.map(\.name))
    }

    /// Adds a node that computes a value in between; returns that value's name.
    func step(
        _ type: String, _ inputs: [String], _ attributes: Attributes = [:]
    ) -> String {
        let output = graph.unusedName("\(name)_\(type.lowercased())")
        graph.node(type, inputs, attributes, outputs: [output])
        return output
    }

    /// Adds a node with two outputs; returns the second one's name.
    func secondStep(
        _ type: String, _ inputs: [String], _ attributes: Attributes = [:]
    ) -> String {
        let outputs = ["first", "second"].map {
            graph.unusedName("\(name)_\(type.lowercased())_\($0)")
        }
        graph.node(type, inputs, attributes, outputs: outputs)
        return outputs[1]
    }

    func cast(_ value: String, to dataType: MILDataType) throws -> String {
        step("Cast", [value], ["to": try Self.target(dataType, self)])
    }

    /// The attribute `to` of Cast.
    static func target(
        _ dataType: MILDataType, _ operation: TranslatedOperation
    ) throws -> Attribute {
        .int(try operation.translation.checkType(dataType, operation.place).rawValue)
    }
}

/// The translation of a MIL operation.
typealias Form = @Sendable (TranslatedOperation) throws -> Void

import RetintMIL
import RetintMLIRBytecode
import RetintMLPackage

/// An operation of the dialect that is being read.
struct ReadOperation {
    let name: String
    let operation: BytecodeOperation
    let operands: [ReadValue]
    let results: [MILTensorType]
    let module: ModuleReader
    let graph: GraphReader

    /// The name without its kind and version: `conv2d` for `primitive.conv2d_v1`.
    var shortName: String {
        let last = name.split(separator: ".").last ?? ""
        let word = String(last.split(separator: "_v").first ?? last)
        let prefix = "broadcasting_"
        return word.hasPrefix(prefix) ? String(word.dropFirst(prefix.count)) : word
    }

    private var place: String { "operation \(name) at byte \(operation.offset)" }

    func error(_ rule: String) -> MLPackageError {
        MLPackageError(
            file: "", place: place, rule: rule,
            remedy: "The file is damaged or uses an unsupported feature.")
    }

    func unknown() -> ConversionError {
        ConversionError(
            place: place, rule: "the operation is not supported",
            remedy: "Convert the network without it.")
    }

    /// The type of the only result.
    func type() throws -> MILTensorType {
        guard results.count == 1 else { throw error("it has \(results.count) results, not one") }
        return results[0]
    }

    /// The dimensions of the only result.
    func shape() throws -> [Int] {
        guard let shape = try type().shape, shape.allSatisfy({ $0 > 0 }) else {
            throw error("results of varying or empty shapes are not supported")
        }
        return shape
    }

    func value(_ index: Int) throws -> ReadValue {
        guard operands.indices.contains(index) else {
            throw error("it has \(operands.count) operands; operand \(index) is missing")
        }
        return operands[index]
    }

    /// A constant operand.
    func constant(_ index: Int) throws -> MILValue {
        guard case .constant(let constant) = try value(index) else {
            throw error("operand \(index) has to be a constant")
        }
        return constant.value
    }

    /// The elements of a short constant of integers.
    func integers(_ index: Int, count: Int? = nil) throws -> [Int] {
        let value = try constant(index)
        guard (value.type.elementCount ?? .max) <= 64, value.type.dataType.isInteger,
            let numbers = try? value.integers()
        else { throw error("operand \(index) has to be a short list of integers") }
        guard count == nil || numbers.count == count else {
            throw error("operand \(index) has \(numbers.count) elements")
        }
        return numbers.map(Int.init)
    }

    func integer(_ index: Int) throws -> Int32 {
        let value = try constant(index)
        if value.type.dataType == .bool, let flag = try value.bools().first { return flag ? 1 : 0 }
        guard let number = try integers(index).first else {
            throw error("operand \(index) is empty")
        }
        return Int32(clamping: number)
    }

    /// The elements of a short constant of floats.
    func numbers(_ index: Int, count: Int) throws -> [Float] {
        let value = try constant(index)
        guard value.type.elementCount == count, value.type.dataType.isFloat else {
            throw error("operand \(index) has to be \(count) floats")
        }
        return try value.floats()
    }

    func number(_ index: Int) throws -> Float { try numbers(index, count: 1)[0] }

    /// The mode among its properties.
    func mode() throws -> Int {
        var cursor = try module.properties(operation)
        var fields = try module.attribute(
            try module.reference(&cursor), Dialect.AttributeCode.paddingMode,
            Dialect.AttributeCode.approximation, Dialect.AttributeCode.interpolationMode
        ).fields
        return Int(clamping: try fields.unsigned())
    }
}

/// The symbol that the operation refers to.
extension ReadOperation {
    /// An operand as a MIL operation takes it.
    func operand(_ index: Int) throws -> MILOperand { graph.operand(try value(index)) }

    /// The name of the graph that it invokes.
    func callee() throws -> String {
        var cursor = try module.properties(operation)
        _ = try module.reference(&cursor)
        var constant = try module.attribute(
            try module.reference(&cursor), Dialect.AttributeCode.constant
        ).fields
        var symbol = try module.attribute(
            try module.reference(&constant), Dialect.AttributeCode.symbol
        ).fields
        guard try symbol.count() == 1 else { throw error("it invokes a graph in a namespace") }
        return try module.string(&symbol)
    }
}

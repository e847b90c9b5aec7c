import RetintMLIRBytecode
import RetintMLPackage

/// The tables of a module that is being written; equal entries are stored once.
final class ModuleWriter {
    private(set) var module = BytecodeModule()
    /// The constants that are stored as resources, in order.
    private(set) var resources: [MILValue] = []

    private var strings: [String: Int] = [:]
    private var attributes: [[UInt8]: Int] = [:]
    private var types: [[UInt8]: Int] = [:]
    private var names: [String: Int] = [:]
    private var properties: [[UInt8]: Int] = [:]
    /// The location of every operation: nowhere.
    private(set) var location = 0

    init(producer: String) {
        module.producer = producer
        module.dialects = [.init(Dialect.name, version: Dialect.version)]
        location = unknownLocation()
    }

    func setBody(_ operation: BytecodeOperation) { module.body = [operation] }

    private func index(of string: String) -> Int {
        Self.index(of: string, in: &strings) { module.strings.append($0) }
    }

    private func attribute(_ code: Int, _ fields: [Int]) -> Int {
        attribute(code) { buffer in for field in fields { buffer.append(field) } }
    }

    private func attribute(_ code: Int, _ body: (inout ByteBuffer) -> Void) -> Int {
        var buffer = ByteBuffer()
        buffer.append(code)
        body(&buffer)
        return Self.index(of: buffer.bytes, in: &attributes) {
            module.attributes.append(.init($0))
        }
    }

    private func type(_ code: Int, _ body: (inout ByteBuffer) -> Void) -> Int {
        var buffer = ByteBuffer()
        buffer.append(code)
        body(&buffer)
        return Self.index(of: buffer.bytes, in: &types) { module.types.append(.init($0)) }
    }

    func operationName(_ name: String) -> Int {
        Self.index(of: name, in: &names) { module.operationNames.append(.init($0)) }
    }

    /// Properties are references to attributes, one after the other.
    func properties(_ references: [AttributeReference]) -> Int {
        var buffer = ByteBuffer()
        for reference in references { buffer.append(reference.code) }
        return Self.index(of: buffer.bytes, in: &properties) {
            module.properties.append(.init($0))
        }
    }

    private static func index<Key>(
        of key: Key, in table: inout [Key: Int], add: (Key) -> Void
    ) -> Int {
        if let index = table[key] { return index }
        let index = table.count
        table[key] = index
        add(key)
        return index
    }

    private func unknownLocation() -> Int {
        let file = attribute(
            Dialect.AttributeCode.file, [index(of: "-"), index(of: ""), index(of: "")])
        let range = attribute(Dialect.AttributeCode.sourceRange, [file, 0, 0, 0, 0])
        let scope = attribute(Dialect.AttributeCode.noScope, [])
        return attribute(Dialect.AttributeCode.location, [range, scope, 0, 0])
    }
}

/// A reference to an attribute among the properties of an operation.
enum AttributeReference {
    case required(Int)
    case optional(Int?)

    fileprivate var code: Int {
        switch self {
        case .required(let index): index
        case .optional(let index?): index << 1 | 1
        case .optional(nil): 0
        }
    }
}

/// Types.
extension ModuleWriter {
    private func element(_ dataType: MILDataType) throws -> Int {
        guard let code = Dialect.TypeCode.elements[dataType] else {
            throw NotWritable("elements of type \(dataType) have no counterpart")
        }
        return type(code) { _ in }
    }

    func type(_ tensor: MILTensorType) throws -> Int {
        guard let shape = tensor.shape else {
            throw NotWritable("sizes that vary are not written: \(tensor)")
        }
        let element = try element(tensor.dataType)
        return type(Dialect.TypeCode.tensor) { buffer in
            buffer.append(shape.count)
            for size in shape { buffer.append(signed: Int64(size)) }
            buffer.append(element)
        }
    }

    func functionType(_ inputs: [Int], _ outputs: [Int]) -> Int {
        type(Dialect.TypeCode.function) { buffer in
            // The results come first.
            buffer.append(list: outputs)
            buffer.append(list: inputs)
        }
    }
}

/// Attributes.
extension ModuleWriter {
    func string(_ string: String) -> Int {
        attribute(Dialect.AttributeCode.string, [index(of: string)])
    }

    func array(_ elements: [Int]) -> Int {
        attribute(Dialect.AttributeCode.array) { $0.append(list: elements) }
    }

    func named(_ name: String, _ values: [Int]) -> Int {
        attribute(Dialect.AttributeCode.named) { buffer in
            buffer.append(index(of: name))
            buffer.append(list: values)
        }
    }

    func typeAttribute(_ type: Int) -> Int { attribute(Dialect.AttributeCode.type, [type]) }

    /// One of the modes of an operation.
    func mode(_ code: Int, _ value: Int) -> Int { attribute(code, [value]) }

    func flag(_ flag: Bool) -> Int {
        attribute(Dialect.AttributeCode.integer) { buffer in
            buffer.append(1)
            buffer.append(0)
            buffer.append(byte: flag ? 1 : 0)
        }
    }

    func integer32(_ value: Int) -> Int {
        attribute(Dialect.AttributeCode.integer) { buffer in
            buffer.append(32)
            buffer.append(0)
            buffer.append(signed: Int64(value))
        }
    }

    /// More bytes than that are a resource, which need not be in memory.
    private static let largestInlineBytes = 64

    /// The elements of a constant.
    func elements(_ value: MILValue) throws -> Int {
        guard let byteCount = value.type.byteCount else {
            throw NotWritable("a constant of type \(value.type) has no known size")
        }
        guard byteCount <= Self.largestInlineBytes, !value.type.dataType.isPacked else {
            resources.append(value)
            return attribute(Dialect.AttributeCode.resource, [resources.count - 1])
        }
        let bytes = try value.bytes()
        let width = byteCount / max(value.type.elementCount ?? 1, 1)
        let isUniform =
            !bytes.isEmpty
            && bytes.indices.dropFirst(width).allSatisfy { bytes[$0] == bytes[$0 - width] }
        return attribute(Dialect.AttributeCode.elements) { buffer in
            buffer.append(byte: isUniform ? 1 : 0)
            let stored = isUniform ? Array(bytes.prefix(width)) : bytes
            buffer.append(stored.count)
            buffer.append(stored)
        }
    }
}

/// Something that the dialect cannot express; the operation is not known yet.
struct NotWritable: Error {
    let rule: String

    init(_ rule: String) { self.rule = rule }
}

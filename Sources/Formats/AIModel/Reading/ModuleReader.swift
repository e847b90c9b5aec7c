import RetintFiles
import RetintMIL
import RetintMLIRBytecode
import RetintMLPackage

/// The types and attributes of a module that was read.
final class ModuleReader {
    let file: BytecodeFile
    var module: BytecodeModule { file.module }
    private var types: [Int: MILTensorType] = [:]
    /// The bytes that constants of one repeated value may still fill.
    private var repeatedBytes = 256 << 20
    private var shared = SharedBytes()

    init(_ file: BytecodeFile) throws {
        self.file = file
        shared.add(file.file)
        guard module.dialects.map(\.name) == [Dialect.name] else {
            let names = module.dialects.map(\.name).joined(separator: ", ")
            throw BytecodeError(offset: 0, "its dialects are \(names), not only \(Dialect.name)")
        }
        guard module.dialects[0].version == Dialect.version else {
            let version = module.dialects[0].version?.first.map { "\($0 >> 1)" } ?? "none"
            throw BytecodeError(
                offset: 0, "its version of the dialect \(Dialect.name) is \(version); 2 is read")
        }
    }

    func name(of operation: BytecodeOperation) -> String {
        module.operationNames[operation.name].name
    }

    /// The type of a tensor.
    func type(_ index: Int) throws -> MILTensorType {
        if let known = types[index] { return known }
        var cursor = module.types[index].cursor
        guard try code(&cursor, module.types[index]) == Dialect.TypeCode.tensor else {
            throw cursor.error("type \(index) is not a tensor of a known kind")
        }
        let rank = try cursor.count()
        guard rank <= MILTensorType.maximumRank else {
            throw cursor.error("a rank of \(rank) is above \(MILTensorType.maximumRank)")
        }
        var dimensions: [Int?] = []
        for _ in 0..<rank {
            let size = Int(try cursor.signed())
            guard size >= 0 || size == .min else { throw cursor.error("a size of \(size)") }
            dimensions.append(size == .min ? nil : size)
        }
        let type = MILTensorType(try element(&cursor), dimensions)
        try cursor.finish("type")
        types[index] = type
        return type
    }

    /// The types of a graph's inputs and outputs, by index, from an attribute.
    func functionType(_ attribute: Int) throws -> (inputs: [Int], outputs: [Int]) {
        var fields = try self.attribute(attribute, Dialect.AttributeCode.type).fields
        let index = try fields.index(below: module.types.count, "types")
        var cursor = module.types[index].cursor
        guard try code(&cursor, module.types[index]) == Dialect.TypeCode.function else {
            throw cursor.error("type \(index) is not that of a graph")
        }
        // The results come first.
        let outputs = try cursor.indices(below: module.types.count, "types")
        let inputs = try cursor.indices(below: module.types.count, "types")
        return (inputs, outputs)
    }

    private func element(_ cursor: inout ByteCursor) throws -> MILDataType {
        let index = try cursor.index(below: module.types.count, "types")
        var element = module.types[index].cursor
        guard
            let dataType = Dialect.TypeCode.elementTypes[try code(&element, module.types[index])]
        else { throw cursor.error("the type \(index) of a tensor's elements is not supported") }
        return dataType
    }

    private func code(
        _ cursor: inout ByteCursor, _ encoding: BytecodeModule.Encoding
    ) throws -> Int {
        guard encoding.isCustom else { throw cursor.error("it is stored as text") }
        return Int(clamping: try cursor.unsigned())
    }

    /// The fields of an attribute of one of these kinds.
    func attribute(_ index: Int, _ codes: Int...) throws -> (code: Int, fields: ByteCursor) {
        let encoding = module.attributes[index]
        var cursor = encoding.cursor
        let found = try code(&cursor, encoding)
        guard codes.contains(found) else {
            throw cursor.error("attribute \(index) of kind \(found) is not supported here")
        }
        return (found, cursor)
    }

    /// The attributes that an operation's properties refer to.
    func properties(_ operation: BytecodeOperation) throws -> ByteCursor {
        guard let index = operation.properties else {
            throw BytecodeError(offset: operation.offset, "its properties are missing")
        }
        return module.properties[index].cursor
    }

    func reference(_ cursor: inout ByteCursor) throws -> Int {
        try cursor.index(below: module.attributes.count, "attributes")
    }

    func optionalReference(_ cursor: inout ByteCursor) throws -> Int? {
        let code = try cursor.unsigned()
        guard code & 1 == 1 else { return nil }
        guard code >> 1 < UInt64(module.attributes.count) else {
            throw cursor.error("there is no attribute \(code >> 1)")
        }
        return Int(code >> 1)
    }

    func string(_ index: Int) throws -> String {
        var fields = try attribute(index, Dialect.AttributeCode.string).fields
        return try string(&fields)
    }

    func string(_ cursor: inout ByteCursor) throws -> String {
        module.strings[try cursor.index(below: module.strings.count, "strings")]
    }

    func flag(_ index: Int) throws -> Bool {
        var fields = try attribute(index, Dialect.AttributeCode.integer).fields
        guard try fields.unsigned() == 1, try fields.unsigned() == 0 else {
            throw fields.error("attribute \(index) is not a bool")
        }
        return try fields.byte() != 0
    }

    func array(_ index: Int) throws -> [Int] {
        var fields = try attribute(index, Dialect.AttributeCode.array).fields
        return try fields.indices(below: module.attributes.count, "attributes")
    }
}

/// Constants.
extension ModuleReader {
    /// The elements of a constant of a given type.
    func constant(_ index: Int, _ type: MILTensorType) throws -> MILValue {
        var (code, fields) = try attribute(
            index, Dialect.AttributeCode.elements, Dialect.AttributeCode.resource)
        guard let byteCount = type.byteCount, let count = type.elementCount else {
            throw fields.error("a constant of type \(type) has no known size")
        }
        if code == Dialect.AttributeCode.resource {
            let resource = file.resources[
                try fields.index(below: file.resources.count, "resources")]
            guard resource.byteCount == byteCount else {
                throw fields.error(
                    "resource \(resource.key) has \(resource.byteCount) bytes; \(type) has "
                        + "\(byteCount)")
            }
            try takeShared(byteCount, fields)
            return MILValue(
                type: type,
                content: .blob(
                    BlobReference(
                        file: file.file, offset: resource.offset, byteCount: byteCount)))
        }
        let isRepeated = try fields.byte() != 0
        let elements = try fields.take(try fields.count())
        try fields.finish("elements")
        try takeShared(elements.count, fields)
        let bytes = Array(elements)
        // Here, elements of fewer than eight bits take a byte each.
        let width = max((type.dataType.bitWidth ?? 8) / 8, 1)
        guard bytes.count == (isRepeated ? width : width * count) else {
            throw fields.error("\(bytes.count) bytes of elements do not fit \(type)")
        }
        guard isRepeated else { return MILValue(type: type, elements: bytes) }
        guard count <= repeatedBytes / width else {
            throw fields.error("a constant of type \(type) repeats its value too often")
        }
        repeatedBytes -= count * width
        return MILValue(
            type: type, elements: Array(repeatElement(bytes, count: count).joined()))
    }

    /// Counts the bytes of a constant: any number of constants may name the same ones.
    private func takeShared(_ count: Int, _ fields: ByteCursor) throws {
        guard let rule = shared.take(count) else { return }
        throw fields.error("\(rule): constants share them too often")
    }
}

extension MILValue {
    /// - Parameter elements: little-endian, each of one byte or more.
    fileprivate init(type: MILTensorType, elements: [UInt8]) {
        switch type.dataType {
        case .bool: self.init(type: type, content: .bools(elements.map { $0 != 0 }))
        case let packed where packed.isPacked:
            self = .packed(elements.map { Int32($0) }, shape: type.shape, as: packed)
        case .float64:
            let numbers = stride(from: 0, to: elements.count, by: 8).map { start in
                Double(bitPattern: LittleEndian.number(elements, at: start, width: 8))
            }
            self.init(type: type, content: .doubles(numbers))
        case .int64, .uint64:
            let numbers = stride(from: 0, to: elements.count, by: 8).map { start in
                Int64(bitPattern: LittleEndian.number(elements, at: start, width: 8))
            }
            self.init(type: type, content: .longIntegers(numbers))
        default: self.init(type: type, content: Self.content(type.dataType, elements))
        }
    }
}

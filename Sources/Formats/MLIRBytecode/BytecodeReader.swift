import RetintFiles

/// An open MLIR bytecode file: tables and operations in memory, resources in the file.
package struct BytecodeFile: Sendable {
    package let module: BytecodeModule
    package let resources: [BytecodeResource]
    /// Stays open for its resources.
    package let file: RegularFile

    /// Reads a file and checks all that does not depend on dialects.
    ///
    /// - Throws: ``BytecodeError`` for a file that breaks a rule; `FileError` if it cannot be read.
    package init(_ file: RegularFile) throws {
        self.file = file
        let sections = try BytecodeSections(file)
        var reader = BytecodeTables(sections)
        try reader.readStrings()
        try reader.readDialects()
        try reader.readEncodings()
        try reader.readProperties()
        resources = try reader.resources()
        var module = reader.module
        module.producer = sections.producer
        var operations = OperationReader(module)
        module.body = try operations.read(sections.cursor(.operations))
        self.module = module
    }
}

/// Reads the tables that operations refer to.
struct BytecodeTables {
    private(set) var module = BytecodeModule()
    private let sections: BytecodeSections

    /// More entries than any model has, few enough that tables of a hostile file stay small.
    static let maximumEntries = 1 << 20

    init(_ sections: BytecodeSections) { self.sections = sections }

    /// The lengths of the strings come first, in reverse order. Each string ends with 0.
    mutating func readStrings() throws {
        var cursor = try sections.cursor(.strings)
        let count = try entries(&cursor)
        var lengths: [UInt64] = []
        for _ in 0..<count { lengths.append(try cursor.unsigned()) }
        for length in lengths.reversed() {
            guard let length = Int(exactly: length), length > 0 else {
                throw cursor.error("a string has an impossible length")
            }
            let text = try cursor.take(length).dropLast()
            guard let string = String(validating: text, as: UTF8.self) else {
                throw cursor.error("a string is not UTF-8")
            }
            module.strings.append(string)
        }
        try cursor.finish("strings")
    }

    mutating func readDialects() throws {
        var cursor = try sections.cursor(.dialects)
        for _ in 0..<(try entries(&cursor)) {
            let code = try cursor.unsigned()
            let name = try string(Int(code >> 1), cursor)
            let version = code & 1 == 1 ? try readVersion(&cursor) : nil
            module.dialects.append(.init(name, version: version))
        }
        let total = try entries(&cursor)
        while !cursor.isAtEnd {
            let dialect = try cursor.index(below: module.dialects.count, "dialects")
            for _ in 0..<(try entries(&cursor)) {
                let name = try string(Int(try cursor.unsigned() >> 1), cursor)
                module.operationNames.append(.init(name, dialect: dialect))
            }
        }
        guard module.operationNames.count == total else {
            throw cursor.error(
                "\(total) names of operations are announced, \(module.operationNames.count) are "
                    + "there")
        }
    }

    /// A version is a separate section within the section of dialects.
    private func readVersion(_ cursor: inout ByteCursor) throws -> [UInt8] {
        let kind = try cursor.byte()
        guard kind == UInt8(BytecodeSections.Kind.dialectVersions.rawValue) else {
            throw cursor.error("the version of a dialect is expected, not section \(kind)")
        }
        return Array(try cursor.take(try cursor.count()))
    }

    /// One section has the encodings one after the other, another one their dialects and lengths.
    mutating func readEncodings() throws {
        var offsets = try sections.cursor(.encodingOffsets)
        var data = try sections.cursor(.encodings)
        let counts = (try offsets.unsigned(), try offsets.unsigned())
        let limit = UInt64(Self.maximumEntries)
        guard counts.0 <= limit, counts.1 <= limit else {
            throw offsets.error("more than \(limit) attributes or types are not supported")
        }
        // Attributes and types form separate groups.
        module.attributes = try encodings(Int(counts.0), &offsets, &data)
        module.types = try encodings(Int(counts.1), &offsets, &data)
        try offsets.finish("lengths")
        try data.finish("attributes and types")
    }

    private func encodings(
        _ count: Int, _ offsets: inout ByteCursor, _ data: inout ByteCursor
    ) throws -> [BytecodeModule.Encoding] {
        var result: [BytecodeModule.Encoding] = []
        while result.count < count {
            let dialect = try offsets.index(below: module.dialects.count, "dialects")
            for _ in 0..<(try entries(&offsets)) {
                let code = try offsets.unsigned()
                let start = data.offset
                result.append(
                    .init(
                        dialect: dialect, isCustom: code & 1 == 1,
                        bytes: try data.take(Int(code >> 1)), offset: start))
            }
        }
        guard result.count == count else {
            throw offsets.error("a group of attributes or types is larger than announced")
        }
        return result
    }

    mutating func readProperties() throws {
        var cursor = try sections.cursor(.properties)
        guard !cursor.isAtEnd else { return }
        for _ in 0..<(try entries(&cursor)) {
            let count = try cursor.count()
            let start = cursor.offset
            module.properties.append(.init(bytes: try cursor.take(count), offset: start))
        }
        try cursor.finish("properties")
    }

    private func entries(_ cursor: inout ByteCursor) throws -> Int {
        let count = try cursor.count()
        guard count <= Self.maximumEntries else {
            throw cursor.error("\(count) entries of a table are not supported")
        }
        return count
    }

    func string(_ index: Int, _ cursor: ByteCursor) throws -> String {
        guard module.strings.indices.contains(index) else {
            throw cursor.error("there is no string \(index)")
        }
        return module.strings[index]
    }
}

/// Resources: one section has the data, another one keys and lengths.
extension BytecodeTables {
    private static let blob: UInt8 = 0

    func resources() throws -> [BytecodeResource] {
        var cursor = try sections.cursor(.resourceOffsets)
        guard !cursor.isAtEnd else { return [] }
        guard try cursor.unsigned() == 0 else {
            throw cursor.error("resources of other programs are not supported")
        }
        var position = sections.resources.lowerBound
        var result: [BytecodeResource] = []
        while !cursor.isAtEnd {
            let dialect = try cursor.index(below: module.dialects.count, "dialects")
            for _ in 0..<(try entries(&cursor)) {
                let key = try string(Int(clamping: try cursor.unsigned()), cursor)
                let length = try cursor.unsigned()
                guard try cursor.byte() == Self.blob else {
                    throw cursor.error("resource \(key) is not an array of bytes")
                }
                guard length <= UInt64(sections.resources.upperBound - position) else {
                    throw cursor.error("resource \(key) reaches beyond the end of its section")
                }
                let end = position + Int(length)
                result.append(try blob(key, dialect, in: position..<end))
                position = end
            }
        }
        return result
    }

    /// An alignment, a length, padding and the data.
    private func blob(
        _ key: String, _ dialect: Int, in range: Range<Int>
    ) throws -> BytecodeResource {
        let header = range.prefix(18)
        var cursor = ByteCursor(
            try sections.bytes(header.startIndex..<header.endIndex), offset: range.lowerBound)
        let alignment = try cursor.unsigned()
        let length = try cursor.unsigned()
        guard alignment <= 1 << 16, alignment.nonzeroBitCount == 1 else {
            throw cursor.error("the alignment \(alignment) of resource \(key) is not supported")
        }
        let data = (cursor.offset + Int(alignment) - 1) / Int(alignment) * Int(alignment)
        guard data <= range.upperBound, length == UInt64(range.upperBound - data) else {
            throw cursor.error("resource \(key) has another length than stated")
        }
        return BytecodeResource(
            dialect: dialect, key: key, offset: data, byteCount: Int(length))
    }
}

/// The contents of an MLIR bytecode file except its resources, which are large.
///
/// Attributes, types and properties stay encoded: only their dialect can interpret them.
/// References are indices into the tables.
package struct BytecodeModule: Hashable, Sendable {
    package var producer = ""
    package var dialects: [Dialect] = []
    package var strings: [String] = []
    package var attributes: [Encoding] = []
    package var types: [Encoding] = []
    package var operationNames: [OperationName] = []
    package var properties: [Encoding] = []
    /// The operations at the top.
    package var body: [BytecodeOperation] = []

    package init() {}

    package struct Dialect: Hashable, Sendable {
        package var name: String
        /// The dialect's own encoding of its version; nil if it states none.
        package var version: [UInt8]?

        package init(_ name: String, version: [UInt8]? = nil) {
            (self.name, self.version) = (name, version)
        }
    }

    /// An attribute, a type or the properties of an operation, as its dialect encodes it.
    package struct Encoding: Hashable, Sendable {
        package var dialect = 0
        /// Whether the dialect's own encoding is used, not text.
        package var isCustom = true
        package var bytes: ArraySlice<UInt8>
        /// The position in the file, for errors.
        package var offset = 0

        package init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

        init(dialect: Int = 0, isCustom: Bool = true, bytes: ArraySlice<UInt8>, offset: Int) {
            (self.dialect, self.isCustom, self.bytes) = (dialect, isCustom, bytes)
            self.offset = offset
        }

        package var cursor: ByteCursor { ByteCursor(bytes, offset: offset) }
    }

    package struct OperationName: Hashable, Sendable {
        package var dialect: Int
        /// The name in its dialect.
        package var name: String

        package init(_ name: String, dialect: Int = 0) {
            (self.dialect, self.name) = (dialect, name)
        }
    }
}

/// An operation. Values are numbered from 0 in each region that is isolated from its surroundings:
/// its arguments, then the results of its operations.
package struct BytecodeOperation: Hashable, Sendable {
    package var name: Int
    package var location: Int
    package var attributes: Int?
    package var properties: Int?
    package var resultTypes: [Int] = []
    package var operands: [Int] = []
    package var regions: [BytecodeRegion] = []
    /// The position in the file, for errors.
    package var offset = 0

    package init(name: Int, location: Int) { (self.name, self.location) = (name, location) }
}

/// The parts of an operation, as bits of its encoding.
enum OperationPart {
    static let attributes: UInt8 = 1
    static let results: UInt8 = 2
    static let operands: UInt8 = 4
    static let successors: UInt8 = 8
    static let regions: UInt8 = 16
    static let useOrders: UInt8 = 32
    static let properties: UInt8 = 64
}

extension BytecodeOperation {
    var parts: UInt8 {
        (attributes == nil ? 0 : OperationPart.attributes)
            | (properties == nil ? 0 : OperationPart.properties)
            | (resultTypes.isEmpty ? 0 : OperationPart.results)
            | (operands.isEmpty ? 0 : OperationPart.operands)
            | (regions.isEmpty ? 0 : OperationPart.regions)
    }
}

/// A region of an operation, isolated from its surroundings, with at most one block.
package struct BytecodeRegion: Hashable, Sendable {
    package var argumentTypes: [Int] = []
    /// The location of each argument; nil if unknown.
    package var argumentLocations: [Int?] = []
    package var operations: [BytecodeOperation] = []

    package init() {}
}

/// Where a resource's bytes are in the file.
package struct BytecodeResource: Hashable, Sendable {
    package let dialect: Int
    package let key: String
    package let offset: Int
    package let byteCount: Int
}

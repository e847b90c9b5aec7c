/// Reads the section of operations.
struct OperationReader {
    private let module: BytecodeModule
    private var operationCount = 0

    /// More operations than any model has.
    private static let maximumOperations = 1 << 18
    /// Regions in regions: real programs have four.
    private static let maximumDepth = 32

    init(_ module: BytecodeModule) { self.module = module }

    /// The operations at the top: a block without arguments.
    mutating func read(_ section: ByteCursor) throws -> [BytecodeOperation] {
        var cursor = section
        var region = BytecodeRegion()
        var values = 0
        try readBlock(&cursor, into: &region, values: &values, depth: 0)
        try cursor.finish("operations")
        return region.operations
    }

    private mutating func readBlock(
        _ cursor: inout ByteCursor, into region: inout BytecodeRegion, values: inout Int,
        depth: Int
    ) throws {
        let code = try cursor.unsigned()
        guard code >> 1 <= UInt64(cursor.remaining) else {
            throw cursor.error("\(code >> 1) operations are announced")
        }
        if code & 1 == 1 { try readArguments(&cursor, into: &region) }
        values += region.argumentTypes.count
        for _ in 0..<(code >> 1) {
            let operation = try readOperation(&cursor, values: values, depth: depth)
            values += operation.resultTypes.count
            region.operations.append(operation)
        }
    }

    private func readArguments(
        _ cursor: inout ByteCursor, into region: inout BytecodeRegion
    ) throws {
        for _ in 0..<(try cursor.count()) {
            let code = try cursor.unsigned()
            guard code >> 1 < UInt64(module.types.count) else {
                throw cursor.error("there is no type \(code >> 1)")
            }
            region.argumentTypes.append(Int(code >> 1))
            region.argumentLocations.append(
                code & 1 == 1
                    ? try cursor.index(below: module.attributes.count, "attributes") : nil)
        }
        if try cursor.byte() != 0 { try skipUseOrders(&cursor, count: try cursor.count()) }
    }

    /// - Parameter values: The number of values that are defined before the operation.
    private mutating func readOperation(
        _ cursor: inout ByteCursor, values: Int, depth: Int
    ) throws -> BytecodeOperation {
        let start = cursor.offset
        operationCount += 1
        guard operationCount <= Self.maximumOperations else {
            throw cursor.error("more than \(Self.maximumOperations) operations are not supported")
        }
        let name = try cursor.index(below: module.operationNames.count, "operation names")
        let parts = try cursor.byte()
        let attributes = module.attributes.count
        var operation = BytecodeOperation(
            name: name, location: try cursor.index(below: attributes, "attributes"))
        operation.offset = start
        if parts & OperationPart.attributes != 0 {
            operation.attributes = try cursor.index(below: attributes, "attributes")
        }
        if parts & OperationPart.properties != 0 {
            operation.properties = try cursor.index(below: module.properties.count, "properties")
        }
        if parts & OperationPart.results != 0 {
            operation.resultTypes = try cursor.indices(below: module.types.count, "types")
        }
        if parts & OperationPart.operands != 0 {
            operation.operands = try cursor.indices(below: values, "values before this operation")
        }
        guard parts & OperationPart.successors == 0 else {
            throw BytecodeError(offset: start, "jumps between blocks are not supported")
        }
        if parts & OperationPart.useOrders != 0 {
            try skipUseOrders(&cursor, count: try cursor.count())
        }
        if parts & OperationPart.regions != 0 {
            operation.regions = try readRegions(&cursor, depth: depth + 1)
        }
        return operation
    }

    /// Skips the order in which the uses of a value are kept in memory; it does not matter here.
    private func skipUseOrders(_ cursor: inout ByteCursor, count: Int) throws {
        for _ in 0..<count {
            if count > 1 { _ = try cursor.unsigned() }
            let code = try cursor.unsigned()
            guard code >> 1 <= UInt64(cursor.remaining) else {
                throw cursor.error("\(code >> 1) uses are announced")
            }
            for _ in 0..<(code >> 1) { _ = try cursor.unsigned() }
        }
    }

    private mutating func readRegions(
        _ cursor: inout ByteCursor, depth: Int
    ) throws -> [BytecodeRegion] {
        let code = try cursor.unsigned()
        guard code & 1 == 1 else {
            throw cursor.error("regions that use values from outside are not supported")
        }
        guard depth <= Self.maximumDepth, code >> 1 <= UInt64(cursor.remaining) else {
            throw cursor.error("regions are nested too deeply or missing")
        }
        var regions: [BytecodeRegion] = []
        for _ in 0..<(code >> 1) {
            let kind = try cursor.byte()
            guard kind == UInt8(BytecodeSections.Kind.operations.rawValue) else {
                throw cursor.error("a section of operations is expected, not section \(kind)")
            }
            var part = try cursor.part(try cursor.count())
            regions.append(try readRegion(&part, depth: depth))
            try part.finish("region")
        }
        return regions
    }

    private mutating func readRegion(
        _ cursor: inout ByteCursor, depth: Int
    ) throws -> BytecodeRegion {
        var region = BytecodeRegion()
        let blocks = try cursor.unsigned()
        guard blocks > 0 else { return region }
        guard blocks == 1 else { throw cursor.error("a region with several blocks") }
        let announced = try cursor.unsigned()
        var values = 0
        try readBlock(&cursor, into: &region, values: &values, depth: depth)
        guard announced == UInt64(values) else {
            throw cursor.error("\(announced) values are announced, the region defines \(values)")
        }
        return region
    }
}

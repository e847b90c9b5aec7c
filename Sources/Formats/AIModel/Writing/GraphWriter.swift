import RetintMLIRBytecode
import RetintMLPackage

/// Writes the operations of a graph, or of the region of an operation.
final class GraphWriter {
    let module: ModuleWriter
    private(set) var region = BytecodeRegion()
    private var valueCount = 0
    private var constants: [MILValue: WrittenValue] = [:]

    /// Longer constants are not compared.
    private static let largestShared = 16

    /// - Parameter arguments: the types of the region's arguments.
    init(_ module: ModuleWriter, arguments: [MILTensorType]) throws {
        self.module = module
        region.argumentTypes = try arguments.map(module.type)
        region.argumentLocations = arguments.map { _ in module.location }
        valueCount = arguments.count
    }

    /// The region's arguments.
    func arguments(_ types: [MILTensorType]) -> [WrittenValue] {
        types.enumerated().map { WrittenValue(index: $0, type: $1) }
    }

    /// Adds an operation with one result.
    func add(
        _ name: String, _ operands: [WrittenValue], _ type: MILTensorType,
        mode: (code: Int, value: Int)? = nil, regions: [BytecodeRegion] = []
    ) throws -> WrittenValue {
        let properties = mode.map { mode in
            module.properties([.required(module.mode(mode.code, mode.value))])
        }
        return try add(name, operands, [type], properties: properties, regions: regions)[0]
    }

    /// Adds an operation.
    @discardableResult
    func add(
        _ name: String, _ operands: [WrittenValue], _ types: [MILTensorType],
        properties: Int? = nil, regions: [BytecodeRegion] = []
    ) throws -> [WrittenValue] {
        var operation = BytecodeOperation(
            name: module.operationName(name), location: module.location)
        operation.properties = properties
        operation.operands = operands.map(\.index)
        operation.resultTypes = try types.map(module.type)
        operation.regions = regions
        region.operations.append(operation)
        defer { valueCount += types.count }
        return types.enumerated().map { WrittenValue(index: valueCount + $0, type: $1) }
    }

    /// Adds an operation that also expresses itself by others, in its own region.
    func composite(
        _ name: String, _ operands: [WrittenValue], _ type: MILTensorType,
        body: (GraphWriter, [WrittenValue]) throws -> WrittenValue
    ) throws -> WrittenValue {
        let types = operands.map(\.type)
        let inner = try GraphWriter(module, arguments: types)
        let result = try body(inner, inner.arguments(types))
        try inner.add(Dialect.yield, [result], [])
        return try add(name, operands, type, regions: [inner.region])
    }

    /// A constant; equal short ones share an operation.
    func constant(_ value: MILValue) throws -> WrittenValue {
        let isShort = (value.type.elementCount ?? .max) <= Self.largestShared
        if isShort, let earlier = constants[value] { return earlier }
        let properties = module.properties([.required(try module.elements(value))])
        let result = try add(Dialect.constant, [], [value.type], properties: properties)[0]
        if isShort { constants[value] = result }
        return result
    }

    func unsigned(_ values: [Int]) throws -> WrittenValue {
        try constant(.uint32(values.map { UInt32(clamping: $0) }))
    }

    func signed(_ values: [Int]) throws -> WrittenValue {
        try constant(.integers(values.map { Int32(clamping: $0) }))
    }

    /// A tensor of a single number, with `rank` dimensions.
    func number(_ value: Float, as dataType: MILDataType, rank: Int = 0) throws -> WrittenValue {
        try constant(.floats([value], shape: [Int](repeating: 1, count: rank), as: dataType))
    }
}

/// A value of the region that is being written.
struct WrittenValue: Hashable {
    let index: Int
    let type: MILTensorType

    var shape: [Int] { type.shape ?? [] }
    var dataType: MILDataType { type.dataType }

    /// The value's type with other dimensions.
    func type(_ shape: [Int]) -> MILTensorType { MILTensorType(dataType, shape) }
}

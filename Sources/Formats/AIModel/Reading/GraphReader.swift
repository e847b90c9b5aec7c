import RetintMIL
import RetintMLIRBytecode
import RetintMLPackage

/// A value of a graph that is being read.
enum ReadValue {
    case computed(String, MILTensorType)
    case constant(ReadConstant)

    var type: MILTensorType {
        switch self {
        case .computed(_, let type): type
        case .constant(let constant): constant.value.type
        }
    }

    /// The dimensions, which must be known.
    func shape(_ operation: ReadOperation) throws -> [Int] {
        guard let shape = type.shape else {
            throw operation.error("sizes that vary are not supported")
        }
        return shape
    }
}

/// A constant, which becomes an operation of the program when a tensor is needed.
final class ReadConstant {
    let value: MILValue
    var name: String?

    init(_ value: MILValue) { self.value = value }
}

/// Builds a program from the operations of a module's graphs.
final class GraphReader {
    private(set) var builder = MILProgramBuilder()
    private let module: ModuleReader
    private let graphs: [String: ReadGraph]
    /// The zero padding before a value, by its name.
    private var paddings: [String: (source: ReadValue, amounts: [Int])] = [:]
    private var operationCount = 0

    /// More operations than any model has; graphs that invoke others could multiply them.
    private static let maximumOperations = 1 << 18
    private static let maximumDepth = 16

    init(_ module: ModuleReader, _ graphs: [String: ReadGraph]) {
        (self.module, self.graphs) = (module, graphs)
    }

    /// Reads a graph from its inputs to its outputs.
    func read(_ graph: ReadGraph) throws {
        let inputs = zip(graph.inputNames, graph.inputTypes).map { name, type in
            ReadValue.computed(builder.input(name, type), type)
        }
        let outputs = try results(of: graph, inputs, depth: 0)
        guard outputs.count == graph.outputNames.count else {
            throw BytecodeError(
                offset: graph.operation.offset,
                "graph \(graph.name) returns \(outputs.count) values, not "
                    + "\(graph.outputNames.count)")
        }
        for (value, output) in zip(outputs, graph.outputNames) {
            try builder.output(name(of: value), as: MILNames.legal(output))
        }
    }

    private func results(
        of graph: ReadGraph, _ arguments: [ReadValue], depth: Int
    ) throws -> [ReadValue] {
        guard depth <= Self.maximumDepth else {
            throw BytecodeError(
                offset: graph.operation.offset, "graphs that invoke others are nested too deep")
        }
        guard arguments.map(\.type) == graph.inputTypes else {
            throw BytecodeError(
                offset: graph.operation.offset,
                "graph \(graph.name) is invoked with operands of other types than its own")
        }
        var values = arguments
        for operation in graph.body {
            operationCount += 1
            guard operationCount <= Self.maximumOperations else {
                throw BytecodeError(
                    offset: operation.offset,
                    "more than \(Self.maximumOperations) operations are not supported")
            }
            let operands = operation.operands.map { values[$0] }
            let name = module.name(of: operation)
            if name == Dialect.output { return operands }
            values += try read(operation, name, operands, depth: depth)
        }
        throw BytecodeError(
            offset: graph.operation.offset, "graph \(graph.name) returns nothing")
    }

    private func read(
        _ operation: BytecodeOperation, _ name: String, _ operands: [ReadValue], depth: Int
    ) throws -> [ReadValue] {
        let types = try operation.resultTypes.map(module.type)
        let read = ReadOperation(
            name: name, operation: operation, operands: operands, results: types, module: module,
            graph: self)
        let results: [ReadValue]
        switch name {
        case Dialect.constant:
            var cursor = try module.properties(operation)
            let type = try read.type()
            let value = try module.constant(try module.reference(&cursor), type)
            results = [.constant(ReadConstant(value))]
        case Dialect.invoke:
            guard let graph = graphs[try read.callee()] else {
                throw read.error("the graph that it invokes is missing")
            }
            results = try self.results(of: graph, operands, depth: depth + 1)
        default:
            guard let reader = OperationForms.readers[name] else { throw read.unknown() }
            results = try reader(self, read)
        }
        guard results.map(\.type) == types else {
            throw read.error("its results are of other types than declared")
        }
        return results
    }
}

/// The context for reading operations.
extension GraphReader {
    /// Adds a MIL operation with the first result's type.
    func add(
        _ type: String, _ inputs: [String: MILOperand], _ operation: ReadOperation,
        as result: MILTensorType? = nil
    ) throws -> ReadValue {
        let result = try result ?? operation.type()
        return .computed(
            builder.operation(type, inputs, name: operation.shortName, type: result), result)
    }

    /// Adds a MIL operation with all results.
    func addSeveral(
        _ type: String, _ inputs: [String: MILOperand], _ operation: ReadOperation
    ) throws -> [ReadValue] {
        let outputs = operation.results.enumerated().map {
            MILNamedType("\(operation.shortName)_\($0)", $1)
        }
        let names = builder.operation(type, inputs, outputs: outputs)
        return zip(names, operation.results).map { .computed($0, $1) }
    }

    func operand(_ value: ReadValue) -> MILOperand { .name(name(of: value)) }

    /// The name of a value; a constant becomes an operation when it is first used.
    func name(of value: ReadValue) -> String {
        switch value {
        case .computed(let name, _): return name
        case .constant(let constant):
            if let name = constant.name { return name }
            let name = builder.constant(constant.value, name: "constant")
            constant.name = name
            return name
        }
    }

    /// Notes that a value is another one with zeros around it.
    func remember(padding amounts: [Int], of source: ReadValue, as result: ReadValue) {
        if case .computed(let name, _) = result { paddings[name] = (source, amounts) }
    }

    /// An image without the zeros that a `pad` added, and their amounts: top, bottom, left, right.
    func withoutPadding(_ value: ReadValue) -> (ReadValue, [Int]) {
        guard case .computed(let name, _) = value, let (source, amounts) = paddings[name],
            amounts.count == 8, amounts.prefix(4).allSatisfy({ $0 == 0 })
        else { return (value, [0, 0, 0, 0]) }
        return (source, Array(amounts.suffix(4)))
    }
}

import RetintMLIRBytecode
import RetintMLPackage

/// A graph of a module: its interface and its operations.
struct ReadGraph {
    let name: String
    let isPrivate: Bool
    let operation: BytecodeOperation
    let inputTypes: [MILTensorType]
    let inputNames: [String]
    let outputNames: [String]

    var body: [BytecodeOperation] { operation.regions[0].operations }

    init(_ operation: BytecodeOperation, in module: ModuleReader) throws {
        self.operation = operation
        guard operation.regions.count == 1, let body = operation.regions.first else {
            throw BytecodeError(offset: operation.offset, "a graph has to have one region")
        }
        // In the alphabetical order of their names.
        var cursor = try module.properties(operation)
        let arguments = try module.reference(&cursor)
        _ = try module.optionalReference(&cursor)  // compositeDecl
        _ = try module.reference(&cursor)  // externalize
        let interface = try module.functionType(try module.reference(&cursor))
        isPrivate = try module.flag(try module.reference(&cursor))
        name = try module.string(try module.reference(&cursor))
        _ = try module.reference(&cursor)  // noInline
        _ = try module.reference(&cursor)  // paramDecls
        let results = try module.reference(&cursor)
        inputTypes = try body.argumentTypes.map(module.type)
        let outputs = body.operations.last?.operands.count ?? 0
        guard interface.inputs == body.argumentTypes, interface.outputs.count == outputs else {
            throw BytecodeError(
                offset: operation.offset,
                "graph \(name) takes or returns other values than its type states")
        }
        inputNames = try Self.names(arguments, count: inputTypes.count, "input", in: module)
        outputNames = try Self.names(results, count: outputs, "output", in: module)
    }

    /// The names of inputs or outputs; numbered ones where none are stated.
    private static func names(
        _ attribute: Int, count: Int, _ word: String, in module: ModuleReader
    ) throws -> [String] {
        let attributes = try module.array(attribute)
        return try (0..<count).map { index in
            guard index < attributes.count else { return "\(word)_\(index)" }
            for entry in try module.array(attributes[index]) {
                var fields = try module.attribute(entry, Dialect.AttributeCode.named).fields
                guard try module.string(&fields) == Dialect.nameKey else { continue }
                let values = try fields.indices(
                    below: module.module.attributes.count, "attributes")
                if let value = values.first { return try module.string(value) }
            }
            return "\(word)_\(index)"
        }
    }
}

/// The graphs of a module by name.
struct ReadGraphs {
    let byName: [String: ReadGraph]
    /// The one that is the model.
    let main: ReadGraph

    init(_ module: ModuleReader) throws {
        let body = module.module.body
        guard body.count == 1, module.name(of: body[0]) == Dialect.asset,
            body[0].regions.count == 1
        else { throw BytecodeError(offset: 0, "it does not hold one \(Dialect.asset)") }
        var graphs: [String: ReadGraph] = [:]
        for operation in body[0].regions[0].operations {
            let name = module.name(of: operation)
            guard name == Dialect.graph else {
                throw BytecodeError(offset: operation.offset, "the operation \(name) is unknown")
            }
            let graph = try ReadGraph(operation, in: module)
            guard graphs.updateValue(graph, forKey: graph.name) == nil else {
                throw BytecodeError(
                    offset: operation.offset, "the graph \(graph.name) occurs twice")
            }
        }
        let shown = graphs.values.filter { !$0.isPrivate }
        guard let main = graphs["main"] ?? (shown.count == 1 ? shown[0] : nil) else {
            throw BytecodeError(
                offset: 0, "it has \(shown.count) functions, but none is named main")
        }
        (byName, self.main) = (graphs, main)
    }
}

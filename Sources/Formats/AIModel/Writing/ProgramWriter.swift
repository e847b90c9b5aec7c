import RetintMIL
import RetintMLIRBytecode
import RetintMLPackage

/// Writes a program as a module with one graph.
struct ProgramWriter {
    private let program: MILProgram
    private let module: ModuleWriter
    private let graph: GraphWriter
    private let values: WrittenValues

    /// - Throws: `ConversionError` for an input that the dialect cannot express.
    init(_ program: MILProgram, producer: String) throws {
        self.program = program
        module = ModuleWriter(producer: producer)
        let types = program.inputs.map(\.type)
        do {
            graph = try GraphWriter(module, arguments: types)
        } catch let error as NotWritable {
            throw Self.error(error, at: "inputs")
        }
        values = WrittenValues(graph)
        for (input, value) in zip(program.inputs, graph.arguments(types)) {
            values.define(input.name, value)
        }
    }

    /// Writes all operations; returns the module and the constants that are its resources.
    func write() throws -> (module: BytecodeModule, resources: [MILValue]) {
        for (index, operation) in program.operations.enumerated() {
            let place = operation.place(index)
            do {
                try write(operation, place)
            } catch let error as NotWritable {
                throw Self.error(error, at: place)
            }
        }
        do {
            try finish()
        } catch let error as NotWritable {
            throw Self.error(error, at: "outputs")
        }
        return (module.module, module.resources)
    }

    private static func error(_ error: NotWritable, at place: String) -> ConversionError {
        ConversionError(
            place: place, rule: error.rule,
            remedy: "Write an .mlpackage, or export the network without it.")
    }

    private func write(_ operation: MILOperation, _ place: String) throws {
        guard !operation.isConstant, !operation.isConstantExpression else {
            return try values.define(constant: operation, place: place)
        }
        guard let writer = OperationForms.writers[operation.type] else {
            throw NotWritable("the operation \(operation.type) has no counterpart in .aimodel")
        }
        let results = try writer(graph, WrittenOperation(operation, place: place, values))
        for (output, value) in zip(operation.outputs, results) {
            guard output.type == value.type else {
                throw NotWritable(
                    "\(output.name) is declared as \(output.type), not \(value.type)")
            }
            values.define(output.name, value)
        }
    }

    /// Adds the outputs, and the graph around the operations.
    private func finish() throws {
        let outputs = try program.outputs.map { name -> WrittenValue in
            guard let value = try values.value(name) else {
                throw NotWritable("\(name) is not defined")
            }
            return value
        }
        try graph.add(Dialect.output, outputs, [])
        let types = try (
            program.inputs.map { try module.type($0.type) },
            outputs.map { try module.type($0.type) }
        )
        let none = module.array([])
        let no = module.flag(false)
        // In the alphabetical order of their names.
        let properties: [AttributeReference] = [
            .required(names(program.inputs.map(\.name))),  // argAttrs
            .optional(nil),  // compositeDecl
            .required(no),  // externalize
            .required(module.typeAttribute(module.functionType(types.0, types.1))),
            .required(no),  // isPrivate
            .required(module.string("main")),  // name
            .required(no),  // noInline
            .required(none),  // paramDecls
            .required(names(program.outputs)),  // resAttrs
        ]
        var main = operation(Dialect.graph, properties)
        main.regions = [graph.region]
        var asset = operation(
            Dialect.asset, [.optional(nil), .optional(module.integer32(Dialect.revision))])
        var content = BytecodeRegion()
        content.operations = [main]
        asset.regions = [content]
        module.setBody(asset)
    }

    private func operation(
        _ name: String, _ properties: [AttributeReference]
    ) -> BytecodeOperation {
        var operation = BytecodeOperation(
            name: module.operationName(name), location: module.location)
        operation.properties = module.properties(properties)
        return operation
    }

    /// The names of inputs or outputs, as the attributes of each.
    private func names(_ names: [String]) -> Int {
        module.array(
            names.map { name in
                module.array([module.named(Dialect.nameKey, [module.string(name)])])
            })
    }
}

/// The rules for every program that is read or written: each name is legal and defined once, before
/// its use; each constant has the type it states. The parameters of operations are not checked.
struct ProgramRules {
    private var defined: [String: MILTensorType] = [:]

    static func check(_ program: MILProgram) throws {
        var rules = ProgramRules()
        try rules.define(inputs: program.inputs)
        for (index, operation) in program.operations.enumerated() {
            try at(operation.place(index)) { try rules.check(operation) }
        }
        try rules.check(outputs: program.outputs, inputs: program.inputs.map(\.name))
    }

    private mutating func define(inputs: [MILNamedType]) throws {
        for input in inputs {
            try at("program input \"\(input.name)\"") {
                try require(input.type.rank > 0, "", "it must not be a scalar")
                try define(input)
            }
        }
    }

    private mutating func define(_ value: MILNamedType) throws {
        try require(
            MILNames.isLegal(value.name), "",
            "names have letters, digits, \"_\" and \"@\", start with a letter; no keywords")
        try require(
            defined.updateValue(value.type, forKey: value.name) == nil, "",
            "the name is defined twice")
        try ValueRules.check(value.type)
    }

    private mutating func check(_ operation: MILOperation) throws {
        try require(!operation.type.isEmpty, "", "it has no type")
        try require(MILNames.isLegal(operation.name), "", "its name is not legal")
        for (parameter, arguments) in operation.inputs.sorted(by: { $0.key < $1.key }) {
            try at("parameter \"\(parameter)\"") { try check(arguments) }
        }
        try checkAttributes(operation)
        try require(!operation.outputs.isEmpty, "", "it has no output")
        for output in operation.outputs {
            try at("output \"\(output.name)\"") { try define(output) }
        }
    }

    private func check(_ arguments: [MILArgument]) throws {
        try require(!arguments.isEmpty, "", "it is bound to nothing")
        for argument in arguments {
            switch argument {
            case .name(let name):
                try require(defined[name] != nil, "", "\"\(name)\" is not defined before its use")
            case .value(let value): try ValueRules.check(value)
            }
        }
    }

    private func checkAttributes(_ operation: MILOperation) throws {
        for (name, value) in operation.attributes.sorted(by: { $0.key < $1.key }) {
            try at("attribute \"\(name)\"") { try ValueRules.check(value) }
        }
        if operation.isConstant {
            try checkConstant(operation)
        } else if !operation.isConstantExpression {
            try require(
                operation.attributes.isEmpty, "", "it may have no attribute other than its name")
        }
    }

    private func checkConstant(_ operation: MILOperation) throws {
        try require(operation.inputs.isEmpty, "", "a const has no parameters")
        try require(
            operation.attributes.count == 1, "", "a const has \"val\" and no other attribute")
        guard let value = operation.constantValue else {
            throw BrokenRule("", "a const needs \"val\"")
        }
        try require(operation.outputs.count == 1, "", "a const has one output")
        let declared = operation.outputs.map(\.type)
        try require(
            declared == [value.type], "",
            "the output is declared as \(declared[0]) and its value is of type \(value.type)")
    }

    private func check(outputs: [String], inputs: [String]) throws {
        try require(!outputs.isEmpty, "program", "it has no outputs")
        try require(
            Set(outputs).count == outputs.count, "program", "an output is listed twice")
        for name in outputs {
            let place = "program output \"\(name)\""
            try require(defined[name] != nil, place, "it is not defined")
            try require(!inputs.contains(name), place, "an input cannot be an output directly")
        }
    }
}

extension MILOperation {
    /// The position of an operation, for messages.
    package func place(_ index: Int) -> String { "operation \(index) (\(type), \"\(name)\")" }
}

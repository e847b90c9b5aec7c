/// Assembles a program from operations of another one, some of them in float32.
///
/// A value that is read in another precision is cast once. The casts of the
/// other program between float16 and float32, and its identities, are not copied: they are made
/// anew where they are needed. Constants are copied when an operation reads them.
package struct ProgramAssembly {
    package private(set) var program = MILProgram()
    private let types: [String: MILTensorType]
    /// Aliases of a value, perhaps in another precision.
    private let aliases: [String: String]
    /// The operations that define constants, by the names of these.
    private let constants: [String: MILOperation]
    /// The names of both programs.
    private var names: Set<String>
    /// The names in the new program, by a value's first name in the other one and by precision.
    private var copies: [String: [MILDataType: String]] = [:]

    /// - Parameter source: the program that the operations are taken from.
    package init(_ source: MILProgram) {
        types = source.types
        aliases = source.aliases
        names = Set(types.keys)
        constants = source.operations.filter { $0.isConstant || $0.isConstantExpression }.byOutput
    }

    /// Makes a value of the other program an input of this one.
    ///
    /// - Parameter type: that of the input; the value's own if nil.
    package mutating func input(_ value: String, _ type: MILTensorType? = nil) {
        guard let type = type ?? types[value] else { return }
        program.inputs.append(MILNamedType(value, type))
        copies[value] = [type.dataType: value]
    }

    /// Copies a non-constant operation, with the constants that it reads.
    ///
    /// - Parameters:
    ///   - operation: its operands must already exist.
    ///   - isFloat32: whether it computes in float32, whatever its precision in the other program.
    ///   - replacements: float32 constants by the parameter that they are for.
    package mutating func add(
        _ operation: MILOperation, inFloat32 isFloat32: Bool = false,
        replacing replacements: [String: MILValue] = [:]
    ) {
        var copy = operation
        for (parameter, arguments) in operation.inputs.sorted(by: { $0.key < $1.key }) {
            if let value = replacements[parameter] {
                let name = names.insertUnused("\(operation.name)_\(parameter)")
                define(name, value)
                copy.inputs[parameter] = [.name(name)]
            } else {
                copy.inputs[parameter] = arguments.map { argument($0, isFloat32) }
            }
        }
        for (index, output) in operation.outputs.enumerated() where output.type.isFloating {
            if isFloat32 { copy.outputs[index].type.dataType = .float32 }
            copies[output.name] = [copy.outputs[index].type.dataType: output.name]
        }
        program.operations.append(copy)
    }

    /// Makes a value of the other program an output of this one.
    ///
    /// - Parameter isNamed: whether the output has the value's name, and its precision; otherwise
    ///   it is float32, and named as is convenient.
    /// - Returns: the name of the output.
    @discardableResult
    package mutating func output(_ value: String, isNamed: Bool = true) -> String {
        let dataType = isNamed ? types[value]?.dataType ?? .float32 : .float32
        var name = copy(of: value, dataType)
        if isNamed, name != value {
            if isFixed(name) { name = identity(of: name) }
            // The operation itself may have the name, for its result in another precision.
            if program.types[value] != nil { rename(value, to: names.insertUnused(value)) }
            rename(name, to: value)
            name = value
        }
        program.outputs.append(name)
        return name
    }
}

// MARK: Operands

extension ProgramAssembly {
    private mutating func argument(_ argument: MILArgument, _ isFloat32: Bool) -> MILArgument {
        switch argument {
        case .value(let value):
            guard isFloat32, let single = value.single else { return argument }
            return .value(single)
        case .name(let name):
            guard let type = types[name] else { return argument }
            return .name(copy(of: name, isFloat32 && type.isFloating ? .float32 : type.dataType))
        }
    }

    /// The name of a value in a precision; the value is created if necessary.
    private mutating func copy(of name: String, _ dataType: MILDataType) -> String {
        let value = aliases[name] ?? name
        if let copy = copies[value]?[dataType] { return copy }
        if let constant = constants[value] {
            if let copy = single(of: constant, dataType) { return copy }
            if copies[value] == nil { copyConstant(constant) }
        }
        guard let (other, existing) = copies[value]?.first, other != dataType else { return value }
        let copy = cast(existing, to: dataType)
        copies[value]?[dataType] = copy
        return copy
    }

    /// A float16 constant in float32.
    private mutating func single(
        of constant: MILOperation, _ dataType: MILDataType
    ) -> String? {
        guard dataType == .float32, let single = constant.constantValue?.single else { return nil }
        let name = names.insertUnused("\(constant.outputs[0].name)_fp32")
        define(name, single)
        return name
    }

    private mutating func define(_ name: String, _ value: MILValue) {
        program.operations.append(MILOperation(constant: name, value))
    }

    /// Copies a constant, or the operation that unpacks it with all that it reads.
    private mutating func copyConstant(_ constant: MILOperation) {
        for case .name(let name) in constant.inputs.sorted(by: { $0.key < $1.key })
            .flatMap(\.value)
        {
            guard copies[name] == nil, let operand = constants[name] else { continue }
            copyConstant(operand)
        }
        program.operations.append(constant)
        for output in constant.outputs { copies[output.name] = [output.type.dataType: output.name] }
    }

    private mutating func cast(_ name: String, to dataType: MILDataType) -> String {
        let word = "\(dataType)"
        let (result, text) = (
            names.insertUnused("\(name)_\(word)"), names.insertUnused("\(name)_\(word)_dtype")
        )
        define(text, .string(word))
        let dimensions = program.types[name]?.dimensions ?? []
        program.operations.append(
            MILOperation(
                "cast", inputs: ["x": [.name(name)], "dtype": [.name(text)]],
                outputs: [MILNamedType(result, MILTensorType(dataType, dimensions))]))
        return result
    }

    private mutating func identity(of name: String) -> String {
        let result = names.insertUnused(name)
        let type = program.types[name] ?? MILTensorType(.float32)
        program.operations.append(
            MILOperation(
                "identity", inputs: ["x": [.name(name)]], outputs: [MILNamedType(result, type)]))
        return result
    }

    /// Whether a value cannot be given the name of an output.
    private func isFixed(_ name: String) -> Bool {
        program.inputs.contains { $0.name == name } || program.outputs.contains(name)
            || program.operations.contains {
                ($0.isConstant || $0.isConstantExpression)
                    && $0.outputs.contains { $0.name == name }
            }
    }

    private mutating func rename(_ old: String, to new: String) {
        for index in program.operations.indices { program.operations[index].rename(old, to: new) }
        for (value, copy) in copies {
            for (dataType, name) in copy where name == old { copies[value]?[dataType] = new }
        }
    }
}

extension MILProgram {
    /// The value for each other name: that of a cast between float16 and float32, or of
    /// an identity, for the value that it is made from.
    package var aliases: [String: String] {
        let types = types
        var aliases: [String: String] = [:]
        for operation in operations where ["cast", "identity"].contains(operation.type) {
            guard let output = operation.outputs.first, output.type.isFloating,
                let source = operation.inputs["x"]?.first?.name, types[source]?.isFloating == true
            else { continue }
            aliases[output.name] = aliases[source] ?? source
        }
        return aliases
    }

    /// The operations that compute: not constants, and not those that only name or cast a value.
    package var computing: [MILOperation] {
        let aliases = aliases
        return operations.filter { operation in
            !operation.isConstant && !operation.isConstantExpression
                && !operation.outputs.contains { aliases[$0.name] != nil }
        }
    }
}

extension MILTensorType {
    /// Whether the elements are float16 or float32.
    package var isFloating: Bool { dataType == .float16 || dataType == .float32 }
}

extension MILValue {
    /// A float16 value in float32; nil if it is not float16, or cannot be read.
    fileprivate var single: MILValue? {
        guard type.dataType == .float16, let scalars = try? floats() else { return nil }
        return MILValue(
            type: MILTensorType(.float32, type.dimensions), content: .floats(scalars))
    }
}

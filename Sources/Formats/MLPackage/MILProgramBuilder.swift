/// Builds a program operation by operation, making names legal and unique.
///
///     var builder = MILProgramBuilder()
///     let x = builder.input("x", MILTensorType(.float32, [1, 3, 8, 8]))
///     let y = builder.operation("relu", ["x": .name(x)], name: "act.0", type: type)
///     try builder.output(y, as: "y")
///     let program = builder.program
///
/// Constant parameters become `const` operations, as the format requires; equal small ones share
/// one.
package struct MILProgramBuilder {
    package private(set) var program = MILProgram()
    private var names: Set<String> = []
    private var smallConstants: [MILValue: String] = [:]

    /// Larger constants are not compared here: the weight file shares equal ones.
    private static let smallCount = 64

    package init() {}

    /// Adds an input and returns its name, made legal and unique.
    package mutating func input(_ name: String, _ type: MILTensorType) -> String {
        let name = uniqueName(name)
        program.inputs.append(MILNamedType(name, type))
        return name
    }

    /// Adds a constant, or returns the name of an equal small one.
    package mutating func constant(_ value: MILValue, name: String) -> String {
        let isSmall = (value.type.elementCount ?? .max) <= Self.smallCount
        if isSmall, let earlier = smallConstants[value] { return earlier }
        let name = uniqueName(name)
        program.operations.append(MILOperation(constant: name, value))
        if isSmall { smallConstants[value] = name }
        return name
    }

    /// Adds an operation with one output and returns that output's name.
    package mutating func operation(
        _ type: String, _ inputs: [String: MILOperand], name: String,
        type outputType: MILTensorType
    ) -> String {
        operation(type, inputs, outputs: [MILNamedType(name, outputType)])[0]
    }

    /// Adds an operation and returns the names of its outputs.
    package mutating func operation(
        _ type: String, _ inputs: [String: MILOperand], outputs: [MILNamedType]
    ) -> [String] {
        let prefix = outputs.first?.name ?? type
        var arguments: [String: [MILArgument]] = [:]
        for (parameter, operand) in inputs.sorted(by: { $0.key < $1.key }) {
            arguments[parameter] = bind(operand, name: "\(prefix)_\(parameter)")
        }
        let outputs = outputs.map { MILNamedType(uniqueName($0.name), $0.type) }
        program.operations.append(MILOperation(type, inputs: arguments, outputs: outputs))
        return outputs.map(\.name)
    }

    /// Adds an operation whose parameters are attributes: compressed weights for iOS16 and iOS17.
    package mutating func operation(
        _ type: String, attributes: [String: MILValue], name: String,
        type outputType: MILTensorType
    ) -> String {
        let output = MILNamedType(uniqueName(name), outputType)
        program.operations.append(MILOperation(type, outputs: [output], attributes: attributes))
        return output.name
    }

    /// Returns a value from the program under the given name.
    ///
    /// The output of an operation is renamed; an input, a constant or a value that already is an
    /// output is copied by an `identity`. Another value of that name is renamed, unless it is an
    /// input or output.
    ///
    /// - Returns: the new names of values that were renamed.
    /// - Throws: ``MLPackageError`` if the name is in use or not legal.
    @discardableResult
    package mutating func output(
        _ value: String, as name: String
    ) throws(MLPackageError) -> [String: String] {
        let reserved = Set(program.inputs.map(\.name) + program.outputs)
        guard MILNames.isLegal(name), !reserved.contains(name) || value == name && !isInput(name)
        else {
            throw MLPackageError(
                file: "", place: "output \"\(name)\"", rule: "the name is in use or not legal",
                remedy: "Choose another name for the output.")
        }
        let isFree = !reserved.contains(value) && !smallConstants.values.contains(value)
        let source = isFree ? value : identity(of: value)
        var renamed: [String: String] = [:]
        if source != name {
            if names.contains(name) {
                renamed[name] = uniqueName(name)
                rename(name, to: renamed[name] ?? name)
            }
            rename(source, to: name)
            if source == value { renamed[value] = name }
        }
        program.outputs.append(name)
        return renamed
    }

    private func isInput(_ name: String) -> Bool { program.inputs.contains { $0.name == name } }

    private mutating func identity(of value: String) -> String {
        let type = program.types[value] ?? MILTensorType(.float32)
        return operation("identity", ["x": .name(value)], name: value, type: type)
    }

    private mutating func bind(_ operand: MILOperand, name: String) -> [MILArgument] {
        switch operand {
        case .name(let name): [.name(name)]
        case .names(let names): names.map { .name($0) }
        case .constant(let value): [.name(constant(value, name: name))]
        case .inline(let value): [.value(value)]
        }
    }

    /// A legal, unused name similar to `wish`.
    private mutating func uniqueName(_ wish: String) -> String {
        names.insertUnused(MILNames.legal(wish))
    }

    private mutating func rename(_ old: String, to new: String) {
        names.remove(old)
        names.insert(new)
        for (value, name) in smallConstants where name == old { smallConstants[value] = new }
        for index in program.operations.indices {
            program.operations[index].rename(old, to: new)
        }
    }
}

/// The argument for a parameter when an operation is built.
package enum MILOperand: Sendable {
    /// A value defined earlier.
    case name(String)
    /// Several values, for a list parameter.
    case names([String])
    /// A constant, to become an operation.
    case constant(MILValue)
    /// An inline constant: compressed weights from iOS18 on.
    case inline(MILValue)
}

extension MILOperation {
    /// Renames a value wherever the operation defines or uses it.
    mutating func rename(_ old: String, to new: String) {
        for index in outputs.indices where outputs[index].name == old { outputs[index].name = new }
        if name == old { name = new }
        for (parameter, arguments) in inputs where arguments.contains(.name(old)) {
            inputs[parameter] = arguments.map { $0 == .name(old) ? .name(new) : $0 }
        }
    }
}

/// The function `main` of an ML Program.
package struct MILProgram: Hashable, Sendable {
    package var inputs: [MILNamedType]
    /// The names of the values that the function returns.
    package var outputs: [String]
    /// In order of execution: each name is defined once, before its first use.
    package var operations: [MILOperation]

    package init(
        inputs: [MILNamedType] = [], outputs: [String] = [], operations: [MILOperation] = []
    ) {
        self.inputs = inputs
        self.outputs = outputs
        self.operations = operations
    }

    /// The type of every value that is defined, by name.
    package var types: [String: MILTensorType] {
        let defined = inputs + operations.flatMap(\.outputs)
        return Dictionary(defined.map { ($0.name, $0.type) }) { first, _ in first }
    }
}

extension MILProgram {
    /// Removes operations whose results are not used.
    package mutating func removeUnused() {
        var used = Set(outputs)
        var kept: [MILOperation] = []
        for operation in operations.reversed()
        where operation.outputs.contains(where: { used.contains($0.name) }) {
            used.formUnion(operation.inputs.values.joined().compactMap(\.name))
            kept.append(operation)
        }
        operations = kept.reversed()
    }
}

/// An operation with its parameters by name; the format does not order them.
package struct MILOperation: Hashable, Sendable {
    package var type: String
    /// The name in error messages of the runtime, usually that of its output.
    package var name: String
    /// A parameter has one argument, or one per element if it is a list.
    package var inputs: [String: [MILArgument]]
    package var outputs: [MILNamedType]
    /// `val` of a const, and the parameters of compressed weights before iOS18; empty otherwise.
    package var attributes: [String: MILValue]

    package init(
        _ type: String, name: String? = nil, inputs: [String: [MILArgument]] = [:],
        outputs: [MILNamedType], attributes: [String: MILValue] = [:]
    ) {
        self.type = type
        self.name = name ?? outputs.first?.name ?? type
        self.inputs = inputs
        self.outputs = outputs
        self.attributes = attributes
    }

    /// A const with one output.
    package init(constant name: String, _ value: MILValue) {
        self.init(
            "const", outputs: [MILNamedType(name, value.type)], attributes: ["val": value])
    }

    package var isConstant: Bool { type == "const" }

    /// Whether the operation unpacks compressed weights while the model loads.
    package var isConstantExpression: Bool { type.hasPrefix("constexpr_") }

    /// The value of a const.
    package var constantValue: MILValue? { isConstant ? attributes["val"] : nil }
}

extension [MILOperation] {
    /// The operations by the names of their outputs.
    package var byOutput: [String: MILOperation] {
        let named = flatMap { operation in operation.outputs.map { ($0.name, operation) } }
        return Dictionary(named) { first, _ in first }
    }
}

/// The value bound to a parameter.
package enum MILArgument: Hashable, Sendable {
    /// A value defined earlier.
    case name(String)
    /// An inline value.
    case value(MILValue)

    package var name: String? {
        if case .name(let name) = self { name } else { nil }
    }
}

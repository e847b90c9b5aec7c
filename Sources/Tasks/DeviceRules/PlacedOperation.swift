import RetintMLPackage

/// An operation of a program, with its input types and constants, for checks by placement rules.
struct PlacedOperation {
    let operation: MILOperation
    let context: Context

    /// The types and constants of a program.
    struct Context {
        let types: [String: MILTensorType]
        /// The operations that define constants and compressed weights, by the names of their
        /// outputs.
        let constants: [String: MILOperation]
        /// The operations that compute the other values, by the names of their outputs.
        fileprivate let producers: [String: MILOperation]
        /// The operations that take a value, by its name.
        fileprivate let users: [String: [MILOperation]]

        init(_ program: MILProgram) {
            types = program.types
            let isKnown = { (operation: MILOperation) in
                operation.isConstant || operation.isConstantExpression
            }
            constants = program.operations.filter(isKnown).byOutput
            producers = program.operations.filter { !isKnown($0) }.byOutput
            users = program.operations.reduce(into: [:]) { users, operation in
                for name in Set(operation.inputs.values.joined().compactMap(\.name)) {
                    users[name, default: []].append(operation)
                }
            }
        }
    }

    var type: String { operation.type }

    /// The name of its first output. Outputs have unique names, operations need not.
    var name: String { operation.outputs.first?.name ?? operation.name }

    /// The type of the first output.
    var output: MILTensorType? { operation.outputs.first?.type }

    /// The types of all outputs.
    var outputs: [MILTensorType] { operation.outputs.map(\.type) }

    /// The type of a parameter's value; nil if it is not given.
    func input(_ parameter: String) -> MILTensorType? {
        switch operation.inputs[parameter]?.first {
        case .name(let name): context.types[name]
        case .value(let value): value.type
        case nil: nil
        }
    }

    /// The operation that computes a parameter at run time; nil for constants and inputs.
    ///
    /// - Parameter types: operations of these types are passed over, to what they take as `x`.
    func producer(_ parameter: String, through types: Set<String> = []) -> PlacedOperation? {
        var parameter = parameter
        var current = self
        // Names are defined before they are used, so this terminates.
        while let name = current.operation.inputs[parameter]?.first?.name,
            let producer = context.producers[name]
        {
            current = PlacedOperation(operation: producer, context: context)
            guard types.contains(producer.type) else { return current }
            parameter = "x"
        }
        return nil
    }

    /// The operations that take one of the results.
    var users: [PlacedOperation] {
        operation.outputs.flatMap { context.users[$0.name] ?? [] }.map {
            PlacedOperation(operation: $0, context: context)
        }
    }

    /// Whether a parameter is computed at run time rather than constant.
    func isComputed(_ parameter: String) -> Bool {
        guard case .name(let name) = operation.inputs[parameter]?.first else { return false }
        return context.constants[name] == nil
    }

    /// The operation that decompresses a parameter; nil if it is not compressed.
    func unpacking(_ parameter: String) -> MILOperation? {
        guard case .name(let name) = operation.inputs[parameter]?.first,
            let producer = context.constants[name], producer.isConstantExpression
        else { return nil }
        return producer
    }

    /// A constant parameter; nil if it is not given or computed at run time.
    func constant(_ parameter: String) -> MILValue? {
        switch operation.inputs[parameter]?.first {
        case .name(let name): context.constants[name]?.constantValue
        case .value(let value): value
        case nil: nil
        }
    }

    /// A constant integer parameter; nil also if its values cannot be read from the weight file.
    func integers(_ parameter: String) -> [Int]? {
        guard let value = constant(parameter), value.type.dataType.isInteger else { return nil }
        return try? value.integers().map(Int.init)
    }

    func bool(_ parameter: String) -> Bool? {
        (try? constant(parameter)?.bools())?.first
    }

    func string(_ parameter: String) -> String? {
        (try? constant(parameter)?.strings())?.first
    }
}

extension MILTensorType {
    /// The last `count` dimensions; nil if any of them is unknown or missing.
    func trailing(_ count: Int) -> [Int]? {
        let known = dimensions.suffix(count).compactMap { $0 }
        return known.count == count ? known : nil
    }
}

extension [Int] {
    /// For example `3 × 3`.
    var times: String { map(String.init).joined(separator: " × ") }
}

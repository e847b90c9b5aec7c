import MLPackage

/// An operation of a program as placement rules look at it: with the types of what it takes and
/// with its constants.
struct PlacedOperation {
    let operation: MILOperation
    let context: Context

    /// What is known about a program's values.
    struct Context {
        let types: [String: MILTensorType]
        /// The constants and compressed weights, by the names of what they give.
        let constants: [String: MILOperation]

        init(_ program: MILProgram) {
            types = program.types
            let known = program.operations.filter { $0.isConstant || $0.isConstantExpression }
            let named = known.flatMap { operation in
                operation.outputs.map { ($0.name, operation) }
            }
            constants = Dictionary(named) { first, _ in first }
        }
    }

    var type: String { operation.type }

    /// What it computes, which no other operation does; two may share a name of their own.
    var name: String { operation.outputs.first?.name ?? operation.name }

    /// The type of the first output.
    var output: MILTensorType? { operation.outputs.first?.type }

    /// The types of all that it gives.
    var outputs: [MILTensorType] { operation.outputs.map(\.type) }

    /// The type of what a parameter is bound to.
    func input(_ parameter: String) -> MILTensorType? {
        switch operation.inputs[parameter]?.first {
        case .name(let name): context.types[name]
        case .value(let value): value.type
        case nil: nil
        }
    }

    /// Whether a parameter is computed from the model's inputs.
    func isComputed(_ parameter: String) -> Bool {
        guard case .name(let name) = operation.inputs[parameter]?.first else { return false }
        return context.constants[name] == nil
    }

    /// The operation that unpacks a parameter's numbers, where they are compressed.
    func unpacking(_ parameter: String) -> MILOperation? {
        guard case .name(let name) = operation.inputs[parameter]?.first,
            let producer = context.constants[name], producer.isConstantExpression
        else { return nil }
        return producer
    }

    /// A constant parameter; nil where it is not given or computed.
    func constant(_ parameter: String) -> MILValue? {
        switch operation.inputs[parameter]?.first {
        case .name(let name): context.constants[name]?.constantValue
        case .value(let value): value
        case nil: nil
        }
    }

    /// Whole numbers; those of a file that cannot be read count as not given.
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
    /// The last `count` dimensions, where all of them are known.
    func trailing(_ count: Int) -> [Int]? {
        let known = dimensions.suffix(count).compactMap { $0 }
        return known.count == count ? known : nil
    }
}

extension [Int] {
    /// 3 × 3.
    var times: String { map(String.init).joined(separator: " × ") }
}

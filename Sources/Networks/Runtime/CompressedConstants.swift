import RetintMIL
import RetintMLPackage
import RetintTensors

extension MILProgram {
    /// Puts the compressed constants of the program that this one was made of in the place of their
    /// floats.
    ///
    /// - Parameter values: the floats of that program's constants, by name.
    /// - Returns: the names of those that have no place any more.
    mutating func keepCompression(
        of original: MILProgram, _ values: [String: TensorData]
    ) -> [String] {
        let compressed = CompressedConstants(original)
        var left = compressed.names
        guard !left.isEmpty else { return [] }
        let names = Set(operations.flatMap { $0.outputs.map(\.name) })
        let types = original.types
        var added: Set<String> = []
        operations = operations.flatMap { operation -> [MILOperation] in
            guard let output = operation.outputs.first, left.contains(output.name),
                let value = operation.constantValue, let floats = values[output.name],
                value.type == types[output.name],
                (try? value.floats()) == floats.scalars,
                let all = compressed.operations(of: output.name)
            else { return [operation] }
            let own = all.flatMap { $0.outputs.map(\.name) }.filter { $0 != output.name }
            guard names.isDisjoint(with: own) else { return [operation] }
            left.remove(output.name)
            return all.filter { added.insert($0.outputs[0].name).inserted }
        }
        return compressed.order.filter(left.contains)
    }
}

/// The operations of a program that decompress its constants.
private struct CompressedConstants {
    private let constants: [String: MILOperation]
    /// The names of the constants that other operations use, in the order of the program.
    let order: [String]
    var names: Set<String> { Set(order) }

    init(_ program: MILProgram) {
        let all = program.operations.filter { $0.isConstant || $0.isConstantExpression }
        constants = all.byOutput
        let used = Set(
            program.operations.lazy.filter { !$0.isConstantExpression }
                .flatMap { $0.inputs.values.joined().compactMap(\.name) }
        ).union(program.outputs)
        order = all.filter(\.isConstantExpression).compactMap { $0.outputs.first?.name }
            .filter(used.contains)
    }

    /// The operations that compute a constant, each after those that it uses; nil if there are more
    /// than any scheme has.
    func operations(of name: String) -> [MILOperation]? {
        var (order, pending) = ([MILOperation](), [name])
        while let next = pending.popLast() {
            guard let operation = constants[next] else { continue }
            guard order.count < 32 else { return nil }
            order.append(operation)
            pending += operation.inputs.values.joined().compactMap(\.name)
        }
        return order.reversed()
    }
}

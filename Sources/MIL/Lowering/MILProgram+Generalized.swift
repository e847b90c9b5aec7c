import MLPackage

/// A program for many sizes, out of two that were written for different ones.
extension MILProgram {
    /// The program with every dimension unknown in which the other one differs.
    ///
    /// - Parameter other: the same network written for another size.
    /// - Throws: ``ConversionError`` for an operation that depends on the size otherwise.
    package func generalized(by other: MILProgram) throws -> MILProgram {
        let (own, foreign) = (constants, other.constants)
        for (first, second) in zip(computing, other.computing) {
            guard let parameter = first.difference(from: second, own, foreign) else { continue }
            throw MILOperation.boundToSize("operation \(first.name) (\(first.type))", parameter)
        }
        guard computing.count == other.computing.count else {
            throw MILOperation.boundToSize("program", "number of operations")
        }
        return merged(with: other.types)
    }

    private var computing: [MILOperation] { operations.filter { !$0.isConstant } }

    private var constants: [String: MILValue] {
        let pairs = operations.compactMap { operation in
            operation.constantValue.map { (operation.outputs[0].name, $0) }
        }
        return Dictionary(pairs) { first, _ in first }
    }

    private func merged(with types: [String: MILTensorType]) -> MILProgram {
        var result = self
        for place in inputs.indices { result.inputs[place].generalize(by: types) }
        for place in operations.indices where !operations[place].isConstant {
            for output in operations[place].outputs.indices {
                result.operations[place].outputs[output].generalize(by: types)
            }
        }
        return result
    }
}

extension MILOperation {
    /// The first parameter that is another constant in the operation for another size.
    fileprivate func difference(
        from other: MILOperation, _ own: [String: MILValue], _ foreign: [String: MILValue]
    ) -> String? {
        guard type == other.type, inputs.count == other.inputs.count else { return "type" }
        return inputs.keys.sorted().first { parameter in
            let pairs = zip(inputs[parameter] ?? [], other.inputs[parameter] ?? [])
            return pairs.contains { own[$0.name ?? ""] != foreign[$1.name ?? ""] }
        }
    }

    fileprivate static func boundToSize(_ place: String, _ what: String) -> ConversionError {
        var error = ConversionError(
            place: place, rule: "its \(what) depends on the size of the picture",
            remedy: "The network takes one size alone: export it for that one.")
        error.cause = .option
        return error
    }
}

extension MILNamedType {
    /// Forgets the dimensions in which the other type of that name differs.
    fileprivate mutating func generalize(by types: [String: MILTensorType]) {
        guard let other = types[name], other.rank == type.rank else { return }
        type.dimensions = zip(type.dimensions, other.dimensions).map { $0 == $1 ? $0 : nil }
    }
}

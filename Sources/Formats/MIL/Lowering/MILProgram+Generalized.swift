import RetintMLPackage

/// Builds a program for flexible sizes from two programs that were lowered for different sizes.
extension MILProgram {
    /// The program, with every dimension that differs in the other program made unknown.
    ///
    /// - Parameter other: the same network, lowered for another size.
    /// - Throws: ``ConversionError`` if an operation depends on the size in any other way.
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
        for index in inputs.indices { result.inputs[index].generalize(by: types) }
        for index in operations.indices where !operations[index].isConstant {
            for output in operations[index].outputs.indices {
                result.operations[index].outputs[output].generalize(by: types)
            }
        }
        return result
    }
}

extension MILOperation {
    /// The name of the first parameter whose constant differs between the two sizes.
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
            place: place, rule: "its \(what) depends on the size of the image",
            remedy: "The network supports only one size: export it with a fixed size.")
        error.kind = .option
        return error
    }
}

extension MILNamedType {
    /// Makes the dimensions unknown in which the other type of this name differs.
    fileprivate mutating func generalize(by types: [String: MILTensorType]) {
        guard let other = types[name], other.rank == type.rank else { return }
        type.dimensions = zip(type.dimensions, other.dimensions).map { $0 == $1 ? $0 : nil }
    }
}

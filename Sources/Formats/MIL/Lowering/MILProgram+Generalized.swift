import RetintMLPackage

extension MILProgram {
    /// The program for flexible sizes: every dimension that differs between programs for two sizes
    /// is unknown, and shapes that differ are computed from those of earlier values.
    ///
    /// - Parameter others: the same network, lowered for other sizes; itself for none. What
    ///   explains two sizes by chance does not explain three.
    /// - Throws: ``ConversionError`` if an operation depends on the size in any other way.
    package func generalized(by others: [MILProgram]) throws -> MILProgram {
        guard !others.isEmpty else { return self }
        let samples = ([self] + others).map(ProgramSample.init)
        let count = samples[0].computing.count
        guard samples.allSatisfy({ $0.computing.count == count }) else {
            throw ConversionError.boundToSize("program", "number of operations")
        }
        var generalization = Generalization(self, samples)
        return try generalization.program(samples.differences())
    }
}

extension ConversionError {
    package static func boundToSize(_ place: String, _ what: String) -> ConversionError {
        var error = ConversionError(
            place: place,
            rule: "its \(what) depends on the size of the image in a way that a package for "
                + "several sizes cannot state",
            remedy: "Export it with a fixed size.")
        error.kind = .option
        return error
    }

    static func boundToSize(_ operation: MILOperation, _ parameter: String) -> ConversionError {
        boundToSize("operation \(operation.name) (\(operation.type))", parameter)
    }
}

/// A program for one size.
struct ProgramSample {
    /// The operations without the constants; those of all samples correspond.
    let computing: [MILOperation]
    let inputs: [MILNamedType]
    private let constants: [String: MILValue]

    init(_ program: MILProgram) {
        computing = program.operations.filter { !$0.isConstant }
        inputs = program.inputs
        let pairs = program.operations.compactMap { operation in
            operation.constantValue.map { (operation.outputs[0].name, $0) }
        }
        constants = Dictionary(pairs) { first, _ in first }
    }

    /// The constants among the arguments of a parameter; nil for computed ones.
    func values(_ operation: Int, _ parameter: String) -> [MILValue?] {
        (computing[operation].inputs[parameter] ?? []).map { constants[$0.name ?? ""] }
    }
}

/// The parameters of an operation that differ between sizes.
struct SizeDifference {
    let operation: Int
    let parameters: [String]
}

extension [ProgramSample] {
    /// - Throws: ``ConversionError`` if the operations themselves differ.
    func differences() throws -> [SizeDifference] {
        try self[0].computing.indices.compactMap { index -> SizeDifference? in
            let own = self[0].computing[index]
            let fits = allSatisfy { sample in
                let operation = sample.computing[index]
                return operation.type == own.type
                    && operation.inputs.mapValues(\.count) == own.inputs.mapValues(\.count)
            }
            guard fits else { throw ConversionError.boundToSize(own, "type") }
            let parameters = own.inputs.keys.sorted().filter { parameter in
                let values = self[0].values(index, parameter)
                return contains { $0.values(index, parameter) != values }
            }
            return parameters.isEmpty
                ? nil : SizeDifference(operation: index, parameters: parameters)
        }
    }

    /// The elements of a parameter, a vector of whole numbers, at each size.
    func columns(_ operation: Int, _ parameter: String) throws -> [[Int]] {
        let rows = try map { sample -> [Int] in
            let values = sample.values(operation, parameter)
            guard values.count == 1, let value = values[0], value.type.dataType == .int32 else {
                throw ConversionError.boundToSize(self[0].computing[operation], parameter)
            }
            return try value.integers().map { Int($0) }
        }
        guard rows.allSatisfy({ $0.count == rows[0].count }) else {
            throw ConversionError.boundToSize(self[0].computing[operation], parameter)
        }
        return rows[0].indices.map { index in rows.map { $0[index] } }
    }
}

extension [Int] {
    /// Whether a number differs between sizes.
    var varies: Bool { contains { $0 != self[0] } }
}

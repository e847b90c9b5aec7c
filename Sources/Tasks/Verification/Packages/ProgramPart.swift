import RetintMLPackage

/// The operations of a package that lead from some values to another one.
struct ProgramPart {
    /// The value that is computed.
    let output: String
    /// The input values, in the order of computation.
    let inputs: [String]
    /// In order.
    let operations: [MILOperation]
}

/// The values of a package and the operations that compute them.
struct ProgramParts {
    private let package: MLPackage
    private let aliases: [String: String]
    /// In order, without constants and casts.
    let operations: [MILOperation]
    /// The index of the operation that computes a value; −1 for the package's inputs.
    let positions: [String: Int]

    init(_ package: MLPackage) {
        self.package = package
        let program = package.program
        (aliases, operations) = (program.aliases, program.computing)
        var positions = Dictionary(program.inputs.map { ($0.name, -1) }) { first, _ in first }
        for (index, operation) in operations.enumerated() {
            for output in operation.outputs { positions[output.name] = index }
        }
        self.positions = positions
    }

    /// The value that a name stands for.
    func value(_ name: String) -> String { aliases[name] ?? name }

    /// The values that an operation reads, without constants.
    private func operands(of operation: MILOperation) -> [String] {
        operation.inputs.values.joined().compactMap { $0.name.map(value) }
            .filter { positions[$0] != nil }
    }

    /// The operations that compute a value from others.
    ///
    /// - Parameter isGiven: whether a required value is an input; the package's inputs always are.
    func part(computing output: String, isGiven: (String) -> Bool) -> ProgramPart {
        var (open, needed, given): ([String], Set<Int>, Set<String>) = ([output], [], [])
        while let value = open.popLast() {
            guard let position = positions[value] else { continue }
            if position < 0 || value != output && isGiven(value) {
                given.insert(value)
            } else if needed.insert(position).inserted {
                open += operands(of: operations[position])
            }
        }
        let inputs = given.sorted { (positions[$0] ?? 0, $0) < (positions[$1] ?? 0, $1) }
        return ProgramPart(
            output: output, inputs: inputs, operations: needed.sorted().map { operations[$0] })
    }

    /// A part as a package with float32 inputs and one float32 output, with the output's name.
    ///
    /// - Parameter shapes: the shapes of values.
    func package(_ part: ProgramPart, shapes: (String) -> [Int]) -> (MLPackage, output: String) {
        var assembly = ProgramAssembly(package.program)
        for input in part.inputs {
            assembly.input(input, MILTensorType(.float32, shapes(input)))
        }
        for operation in part.operations { assembly.add(operation) }
        let output = assembly.output(part.output, isNamed: false)
        func feature(_ name: String, _ value: String) -> Feature {
            Feature(name, .multiArray(ArrayFeature(.float32, shapes(value))))
        }
        var description = ModelDescription(
            inputs: part.inputs.map { feature($0, $0) },
            outputs: [feature(output, part.output)])
        description.metadata.shortDescription = "A part of another model"
        let result = MLPackage(
            target: package.target, description: description, program: assembly.program)
        return (result, output)
    }
}

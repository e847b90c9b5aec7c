@testable import RetintMIL
@testable import RetintMLPackage
@testable import RetintGraph

/// Builds a program that keeps the rules of the format, with absurd numbers in it. What retint
/// refuses is left out, so that later operations still get something to work on.
struct ProgramBuilding {
    private var choices: Choices
    private var program = MILProgram()
    private var values: [(name: String, shape: [Int])] = []

    private static let maximumOperations = 6
    private static let inputShapes: [[Int]] = [
        [1, 1, 8, 8], [1, 3, 5, 7], [2, 4, 4, 4], [1, 8, 1, 1], [1, 16, 12, 12], [2, 3, 4], [4, 8],
        [5], [1, 2, 3, 2, 2], [1, 32, 9, 3],
    ]

    /// - Returns: nil if there is no operation.
    static func package(_ bytes: [UInt8]) throws -> MLPackage? {
        var building = Self(choices: Choices(bytes))
        building.begin()
        while !building.choices.isEmpty,
            building.program.operations.count < 4 * Self.maximumOperations,
            building.values.count < Self.maximumOperations + 2
        {
            building.add()
        }
        return building.finished()
    }

    private init(choices: Choices) { self.choices = choices }

    private mutating func begin() {
        for index in 0...choices.below(2) {
            let shape = choices.pick(Self.inputShapes)
            let type = MILTensorType(choices.isOne(in: 4) ? .float16 : .float32, shape)
            program.inputs.append(MILNamedType("input_\(index)", type))
            values.append(("input_\(index)", shape))
        }
    }

    private mutating func add() {
        if choices.isOne(in: 12) { return addCompressed() }
        let row = choices.pick(operationTable)
        let x = choices.pick(values)
        var inputs: [String: [MILArgument]] = [:]
        for (name, takes) in row.parameters {
            let isOptional = name.hasSuffix("?")
            if isOptional, choices.bool() { continue }
            let isFirst = inputs.isEmpty
            inputs[isOptional ? String(name.dropLast()) : name] =
                isFirst && takes.isValue ? [.name(x.name)] : arguments(takes, x.shape)
        }
        let count = row.type == "split" ? 1 + choices.below(4) : 1
        let names = (0..<count).map { "value_\(program.operations.count)_\($0)" }
        append(row.type, inputs, names, like: x.shape)
    }

    private mutating func addCompressed() {
        let weights = CompressedWeights(
            &choices, name: "weights_\(program.operations.count)")
        if (try? raised(with: weights.operation)) != nil {
            program.operations.append(weights.operation)
            values.append((weights.operation.outputs[0].name, weights.shape))
        }
    }

    // MARK: Arguments

    private mutating func arguments(_ takes: Parameter, _ shape: [Int]) -> [MILArgument] {
        switch takes {
        case .value: [value(shape)]
        case .values: (0...choices.below(3)).map { _ in value(shape) }
        case .kernel: [kernel(shape)]
        case .channels: [constant(shape.count > 1 ? [shape[1]] : shape)]
        case .integer: [.value(.integer(choices.number()))]
        case .integers(let count): [.value(.integers(integers(count, shape.count)))]
        case .float: [.value(.float(choices.float()))]
        case .bool: [.value(.bool(choices.bool()))]
        case .bools: [.value(.bools(shape.map { _ in choices.bool() }))]
        case .text(let texts): [.value(.string(choices.pick(texts)))]
        }
    }

    private mutating func value(_ shape: [Int]) -> MILArgument {
        switch choices.below(4) {
        case 0: .value(.float(choices.float()))
        case 1: constant(shape)
        case 2: constant(shape.map { choices.bool() ? 1 : $0 })
        default: .name(choices.pick(values).name)
        }
    }

    private mutating func kernel(_ shape: [Int]) -> MILArgument {
        let known = values.filter { $0.shape.count == 4 && $0.name.hasPrefix("weights") }
        if !known.isEmpty, choices.bool() { return .name(choices.pick(known).name) }
        let channels = shape.count > 1 ? shape[1] : 1
        let sides = [1, 1, 2, 3, 3, 4, 5, 7]
        let counts = [channels, 1, max(channels / 2, 1), 2, 4, 8]
        return constant([
            choices.pick(counts), choices.pick(counts), choices.pick(sides), choices.pick(sides),
        ])
    }

    private mutating func constant(_ shape: [Int]) -> MILArgument {
        let count = shape.reduce(1, *)
        let scale = choices.float()
        guard count <= 1 << 14 else { return .value(.float(scale)) }
        return .value(.floats((0..<count).map { scale * Float($0 % 5 - 2) }, shape: shape))
    }

    private mutating func integers(_ count: Parameter.Count, _ rank: Int) -> [Int32] {
        var number: Int {
            switch count {
            case .fixed(let number): number
            case .rank: rank
            case .twiceRank: 2 * rank
            case .any: 0
            }
        }
        let total = if case .any = count { choices.below(7) } else { number }
        return (0..<total).map { _ in choices.number() }
    }

    // MARK: Results

    /// Adds an operation if retint takes it, with the rank that its results have.
    private mutating func append(
        _ type: String, _ inputs: [String: [MILArgument]], _ names: [String], like shape: [Int]
    ) {
        let ranks = [shape.count] + (0...6).filter { $0 != shape.count }
        for rank in ranks {
            let types = names.map {
                MILNamedType($0, MILTensorType(.float32, [Int?](repeating: nil, count: rank)))
            }
            let operation = MILOperation(type, inputs: inputs, outputs: types)
            do {
                let shapes = try raised(with: operation)
                program.operations.append(operation)
                values += zip(names, shapes).map { (name: $0, shape: $1) }
                return
            } catch {
                guard "\(error)".contains("is declared as") else { return }
            }
        }
    }

    /// The shapes of an operation's results, after those of the program.
    private func raised(with operation: MILOperation) throws -> [[Int]] {
        var extended = program
        extended.operations.append(operation)
        extended.outputs = operation.outputs.map(\.name)
        return try raise(Self.package(extended)).outputs.map(\.value.shape.dimensions)
    }

    private func finished() -> MLPackage? {
        guard values.count > program.inputs.count else { return nil }
        var program = program
        let results = program.operations.filter { !$0.isConstantExpression }.flatMap(\.outputs)
        guard let last = results.last else { return nil }
        program.outputs = [last.name]
        if let other = results.dropLast().last { program.outputs.append(other.name) }
        return Self.package(program)
    }

    private static func package(_ program: MILProgram) -> MLPackage {
        let inputs = program.inputs.map {
            Feature($0.name, .multiArray(ArrayFeature($0.type.dataType, $0.type.shape ?? [])))
        }
        let outputs = program.outputs.map {
            Feature($0, .multiArray(ArrayFeature(.float32, [])))
        }
        return MLPackage(
            target: .iOS18,
            description: ModelDescription(inputs: inputs, outputs: outputs), program: program)
    }
}

extension Parameter {
    fileprivate var isValue: Bool {
        if case .value = self { true } else { false }
    }
}

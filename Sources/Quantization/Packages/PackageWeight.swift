import MIL
import MLPackage

/// A float constant of a package that an operation takes, and what is known of it.
struct PackageWeight {
    /// Where the constant stands among the program's operations.
    let place: Int
    let constant: MILOperation
    let value: MILValue
    /// The operations that take it, and as what.
    let uses: [WeightUse]
    /// The axes of the output and the input channels; nil where those who use it disagree.
    let axes: (output: Int, input: Int)?

    var name: String { constant.outputs[0].name }
    var shape: [Int] { value.type.shape ?? [] }
    /// The type of the operation that takes it.
    var type: String { uses.first?.operation.type ?? "" }
    /// What it can be called: its own name and those of the operations that take it.
    var names: [String] {
        [name, constant.name]
            + uses.flatMap { [$0.operation.name] + $0.operation.outputs.map(\.name) }
    }

    /// - Throws: `ConversionError` if there are others than finite ones.
    func finiteNumbers() throws -> [Float] {
        let numbers = try value.floats()
        guard numbers.allSatisfy(\.isFinite) else {
            throw ConversionError(
                place: "weight \(name)",
                rule: "it has NaN or infinity, which fewer bits cannot hold",
                remedy: "Export a checkpoint whose training did not diverge.")
        }
        return numbers
    }
}

struct WeightUse {
    let operation: MILOperation
    let parameter: String
}

extension MLPackage {
    /// The float constants of more than one dimension: biases and other vectors are left out.
    var weights: [PackageWeight] {
        var uses: [String: [WeightUse]] = [:]
        for operation in program.operations {
            for (parameter, arguments) in operation.inputs {
                for name in arguments.compactMap(\.name) {
                    uses[name, default: []].append(
                        WeightUse(operation: operation, parameter: parameter))
                }
            }
        }
        return program.operations.enumerated().compactMap { place, operation in
            guard let value = operation.constantValue, value.type.dataType.isFloat,
                let rank = value.type.shape?.count, rank > 1
            else { return nil }
            let uses = uses[operation.outputs[0].name] ?? []
            return PackageWeight(
                place: place, constant: operation, value: value, uses: uses,
                axes: channelAxes(uses, rank: rank))
        }
    }

    private func channelAxes(_ uses: [WeightUse], rank: Int) -> (output: Int, input: Int)? {
        let found = uses.map { use -> [Int] in
            switch use.operation.type {
            case "conv_transpose": [1, 0]
            case "matmul":
                hasOutputsInRows(use) ? [rank - 2, rank - 1] : [rank - 1, rank - 2]
            default: [0, 1]
            }
        }
        guard let first = found.first, found.allSatisfy({ $0 == first }) else { return nil }
        return (first[0], first[1])
    }

    /// Whether the rows of a matrix are what `matmul` gives its outputs for.
    private func hasOutputsInRows(_ use: WeightUse) -> Bool {
        let flag = use.operation.inputs["transpose_\(use.parameter)"]?.first?.name
        let constant = program.operations.first { $0.outputs.first?.name == flag }
        let isSet = (try? constant?.constantValue?.bools().first) ?? false
        return use.parameter == "y" ? isSet : !isSet
    }
}

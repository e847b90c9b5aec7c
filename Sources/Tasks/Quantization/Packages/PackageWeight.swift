import RetintMIL
import RetintMLPackage

/// A float constant of a package, and the operations that use it.
struct PackageWeight {
    /// The index of the constant among the program's operations.
    let index: Int
    let constant: MILOperation
    let value: MILValue
    /// The operations that use it, with the parameter that it is passed to.
    let uses: [WeightUse]
    /// The axes of the output and the input channels; nil if the operations that use it disagree.
    let axes: (output: Int, input: Int)?
    /// The scale of the other input of the first operation that uses it; nil if that is not
    /// quantized.
    let inputScale: Float?

    var name: String { constant.outputs[0].name }
    var shape: [Int] { value.type.shape ?? [] }
    /// The type of the first operation that uses it.
    var type: String { uses.first?.operation.type ?? "" }
    /// The names that a plan can refer to it by: its own and those of the operations that use it.
    var names: [String] {
        [name, constant.name]
            + uses.flatMap { [$0.operation.name] + $0.operation.outputs.map(\.name) }
    }

    /// Whether it is worth to be stored in this many bytes: in fewer than now, or whatever it takes
    /// for a layer of integers, which needs its weights in integers.
    func gains(at bytes: Int) -> Bool { bytes < value.storedBytes || inputScale != nil }

    /// The elements of the weight.
    ///
    /// - Throws: `ConversionError` if they are not all finite.
    func finiteValues() throws -> [Float] {
        let values = try value.floats()
        guard values.allSatisfy(\.isFinite) else {
            throw ConversionError(
                place: "weight \(name)",
                rule: "it contains NaN or infinity, which cannot be quantized",
                remedy: "Export a checkpoint whose training did not diverge.")
        }
        return values
    }
}

/// An operation that uses a weight, and the parameter that the weight is passed to.
struct WeightUse {
    let operation: MILOperation
    let parameter: String
}

extension MLPackage {
    /// The float constants of rank 2 or more; biases and other vectors are not compressed.
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
        let scales = activationScales
        return program.operations.enumerated().compactMap { index, operation in
            guard let value = operation.constantValue, value.type.dataType.isFloat,
                let rank = value.type.shape?.count, rank > 1
            else { return nil }
            let uses = uses[operation.outputs[0].name] ?? []
            return PackageWeight(
                index: index, constant: operation, value: value, uses: uses,
                axes: channelAxes(uses, rank: rank),
                inputScale: uses.first?.operation.inputs["x"]?.first?.name.flatMap { scales[$0] })
        }
    }

    /// The scales of quantized values, by the names of the restored values.
    private var activationScales: [String: Float] {
        let constants = program.constantValues
        var scales: [String: Float] = [:]
        for operation in program.operations where operation.type == "dequantize" {
            let scale = constants.value(of: operation.inputs["scale"])
            guard let name = operation.outputs.first?.name else { continue }
            scales[name] = try? scale?.floats().max()
        }
        return scales
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

    /// Whether the output channels of a `matmul` are the rows of this matrix.
    private func hasOutputsInRows(_ use: WeightUse) -> Bool {
        let flag = use.operation.inputs["transpose_\(use.parameter)"]?.first?.name
        let constant = program.operations.first { $0.outputs.first?.name == flag }
        let isSet = (try? constant?.constantValue?.bools().first) ?? false
        return use.parameter == "y" ? isSet : !isSet
    }
}

import RetintMLPackage

/// Replaces constants of a package by other operations.
struct PackageRewriting {
    /// The original package.
    let package: MLPackage
    /// Its weights by name.
    private let weights: [String: PackageWeight]
    /// The operations that replace an original one, by its index.
    private var replacements: [Int: [MILOperation]] = [:]

    init(_ package: MLPackage) {
        self.package = package
        weights = Dictionary(package.weights.map { ($0.name, $0) }) { first, _ in first }
    }

    /// The package with all replacements so far.
    var result: MLPackage {
        var result = package
        result.program.operations = package.program.operations.enumerated().flatMap {
            replacements[$0.offset] ?? [$0.element]
        }
        return result
    }

    /// The operations that decompress a weight.
    ///
    /// - Parameter axis: the axis of the output channels.
    func operations(
        for weight: PackageWeight, _ axis: Int, _ compressed: CompressedWeight
    ) -> [MILOperation] {
        compressed.operations(replacing: weight.constant, axis: axis, target: package.target)
    }

    /// Replaces a weight by the operations that decompress it.
    mutating func replace(_ weight: PackageWeight, by operations: [MILOperation]) {
        replacements[weight.index] = operations
    }

    /// The index of the bias of the only operation that uses the weight. Nil if there is no bias,
    /// or if the weight or the bias has other uses.
    func biasIndex(of weight: PackageWeight) -> Int? {
        guard weight.uses.count == 1, weight.uses[0].parameter == "weight",
            let name = weight.uses[0].operation.inputs["bias"]?.first?.name,
            let index = package.program.operations.firstIndex(where: {
                $0.outputs.first?.name == name && $0.constantValue?.type.dataType.isFloat == true
            })
        else { return nil }
        let uses = package.program.operations.count { operation in
            operation.inputs.values.contains { $0.contains { $0.name == name } }
        }
        return uses == 1 ? index : nil
    }

    /// Whether the weight with this name has a bias that can be corrected.
    func hasBias(_ name: String) -> Bool {
        weights[name].map { biasIndex(of: $0) != nil } ?? false
    }

    /// The smallest scale of each block of a weight with which devices can add the bias, if the
    /// weight's input is quantized; nil if there is no bound.
    ///
    /// Where integers are multiplied, the bias is added as an integer of 32 bits whose step is the
    /// product of both scales. A channel that hardly uses its input has so small a scale that its
    /// bias would overflow, and a channel of zeros one that would round it. ONNX Runtime does
    /// either.
    func leastScales(of weight: PackageWeight, _ blocks: WeightBlocks) throws -> [Float]? {
        guard let index = biasIndex(of: weight), let input = weight.inputScale, input > 0,
            let bias = try package.program.operations[index].constantValue?.floats(),
            let axis = weight.axes?.output
        else { return nil }
        let bounds = bias.map { abs($0) / input / Self.largestBias }
        guard blocks.groups[axis] == bias.count, blocks.count == bias.count else {
            return [Float](repeating: bounds.max() ?? 0, count: blocks.count)
        }
        return bounds
    }

    /// The largest integer of a bias: a quarter of what fits, so that sums fit, too.
    private static let largestBias: Float = 0x1p29

    /// Adjusts the bias so that the mean output is the same as before the weight changed.
    mutating func correctBias(
        of weight: PackageWeight, _ inputs: WeightInputs, from old: [Float], to new: [Float]
    ) throws {
        guard let index = biasIndex(of: weight) else { return }
        var constant = package.program.operations[index]
        guard let value = constant.constantValue else { return }
        let values = try value.floats()
        let correction = inputs.biasCorrection(from: old, to: new, channels: values.count)
        constant.attributes["val"] = .floats(
            zip(values, correction).map(+), shape: value.type.shape ?? [],
            as: value.type.dataType)
        replacements[index] = [constant]
    }
}

extension [MILOperation] {
    /// The size in bytes of the values stored in these operations.
    var storedBytes: Int { flatMap(\.storedValues).reduce(0) { $0 + $1.storedBytes } }
}

extension MILOperation {
    /// The values stored in the operation itself.
    fileprivate var storedValues: [MILValue] {
        let inline = inputs.values.joined().compactMap { argument -> MILValue? in
            if case .value(let value) = argument { value } else { nil }
        }
        return inline + attributes.values
    }
}

extension MILValue {
    /// The size of the elements in a file, in bytes.
    var storedBytes: Int {
        ((type.elementCount ?? 0) * (type.dataType.bitWidth ?? 8) + 7) / 8
    }
}

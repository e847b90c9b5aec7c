import MLPackage

/// A package whose constants are being replaced.
struct PackageRewriting {
    /// As it was.
    let package: MLPackage
    /// What stands for an operation now, by its place.
    private var replacements: [Int: [MILOperation]] = [:]

    init(_ package: MLPackage) {
        self.package = package
    }

    /// As it is.
    var result: MLPackage {
        var result = package
        result.program.operations = package.program.operations.enumerated().flatMap {
            replacements[$0.offset] ?? [$0.element]
        }
        return result
    }

    /// - Returns: the bytes that the weight takes now.
    mutating func replace(
        _ weight: PackageWeight, _ axis: Int, by compressed: CompressedWeight
    ) -> Int {
        let operations = compressed.operations(
            replacing: weight.constant, axis: axis, target: package.target)
        replacements[weight.place] = operations
        return operations.storedBytes
    }

    /// Where the bias stands that is added to what the weight's one operation gives; nil if there
    /// is none, or others take it as well.
    func bias(of weight: PackageWeight) -> Int? {
        guard weight.uses.count == 1, weight.uses[0].parameter == "weight",
            let name = weight.uses[0].operation.inputs["bias"]?.first?.name,
            let place = package.program.operations.firstIndex(where: {
                $0.outputs.first?.name == name && $0.constantValue?.type.dataType.isFloat == true
            })
        else { return nil }
        let uses = package.program.operations.count { operation in
            operation.inputs.values.contains { $0.contains { $0.name == name } }
        }
        return uses == 1 ? place : nil
    }

    /// Whether the weight of that name has such a bias.
    func hasBias(_ name: String) -> Bool {
        package.weights.first { $0.name == name }.map { bias(of: $0) != nil } ?? false
    }

    /// Adds to the bias what the mean output lost when the weight changed.
    mutating func correctBias(
        of weight: PackageWeight, _ inputs: WeightInputs, from old: [Float], to new: [Float]
    ) throws {
        guard let place = bias(of: weight) else { return }
        var constant = package.program.operations[place]
        guard let value = constant.constantValue else { return }
        let values = try value.floats()
        let correction = inputs.biasCorrection(from: old, to: new, channels: values.count)
        constant.attributes["val"] = .floats(
            zip(values, correction).map(+), shape: value.type.shape ?? [],
            as: value.type.dataType)
        replacements[place] = [constant]
    }
}

extension [MILOperation] {
    /// Bytes of what stands in the operations themselves.
    var storedBytes: Int { flatMap(\.storedValues).reduce(0) { $0 + $1.storedBytes } }
}

extension MILOperation {
    /// The values that stand in the operation itself.
    fileprivate var storedValues: [MILValue] {
        let inline = inputs.values.joined().compactMap { argument -> MILValue? in
            if case .value(let value) = argument { value } else { nil }
        }
        return inline + attributes.values
    }
}

extension MILValue {
    /// Bytes of the elements as a file has them.
    var storedBytes: Int {
        ((type.elementCount ?? 0) * (type.dataType.bitWidth ?? 8) + 7) / 8
    }
}

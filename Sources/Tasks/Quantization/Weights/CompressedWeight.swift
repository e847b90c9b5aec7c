import RetintMLPackage

/// A compressed weight, and the operations that decompress it.
struct CompressedWeight {
    /// The stored content: values, or codes on a grid.
    enum Storage {
        case unchanged([Float])
        case half([Float])
        case affine(AffineGrid, [Int32])
        case palette(PaletteGrid, [Int32])
    }

    let storage: Storage
    /// The sparsity mask: false for elements that are zero and not stored; nil for dense weights.
    var kept: [Bool]?

    /// The decompressed weight.
    var decompressed: [Float] {
        guard let kept else { return dense }
        return zip(dense, kept).map { $1 ? $0 : 0 }
    }

    private var dense: [Float] {
        switch storage {
        case .unchanged(let values): values
        case .half(let values): HalfPrecision.floats(HalfPrecision.halfs(values))
        case .affine(let grid, let codes): grid.values(codes)
        case .palette(let grid, let codes): grid.values(codes)
        }
    }

    /// The `constexpr` operations that replace the weight's constant. Their parameters are
    /// attributes before iOS18, and inputs since iOS18.
    ///
    /// - Parameter axis: the axis of the output channels.
    func operations(
        replacing constant: MILOperation, axis: Int, target: DeploymentTarget
    ) -> [MILOperation] {
        let form: any ConstexprForm =
            target >= .iOS18 ? ConstexprInputs(constant) : ConstexprAttributes(constant, axis: axis)
        if let kept { return form.sparse(storage, kept) }
        switch storage {
        case .unchanged: return [constant]
        case .half(let values): return [form.cast(values)]
        case .affine(let grid, let codes): return [form.affine(grid, codes)]
        case .palette(let grid, let codes): return [form.palette(grid, codes)]
        }
    }
}

/// How `constexpr` operations take their parameters.
private protocol ConstexprForm {
    func cast(_ values: [Float]) -> MILOperation
    func affine(_ grid: AffineGrid, _ codes: [Int32]) -> MILOperation
    func palette(_ grid: PaletteGrid, _ codes: [Int32]) -> MILOperation
    func sparse(_ storage: CompressedWeight.Storage, _ kept: [Bool]) -> [MILOperation]
}

private func castParameters(_ values: [Float], _ type: MILTensorType) -> [String: MILValue] {
    [
        "source_val": .floats(values, shape: type.shape, as: .float16),
        "output_dtype": .string("fp32"),
    ]
}

extension Array {
    /// The elements whose flag is set.
    fileprivate func kept(_ flags: [Bool]) -> [Element] {
        zip(self, flags).compactMap { $1 ? $0 : nil }
    }
}

/// Parameters as attributes: opsets before iOS18.
private struct ConstexprAttributes: ConstexprForm {
    let constant: MILOperation
    let axis: Int
    private var type: MILTensorType { constant.outputs[0].type }

    init(_ constant: MILOperation, axis: Int) {
        (self.constant, self.axis) = (constant, axis)
    }

    private func operation(_ kind: String, _ attributes: [String: MILValue]) -> MILOperation {
        MILOperation(
            kind, name: constant.name, outputs: constant.outputs, attributes: attributes)
    }

    private var shape: MILValue { .uint32((type.shape ?? []).map { UInt32($0) }) }

    func cast(_ values: [Float]) -> MILOperation {
        operation("constexpr_cast", castParameters(values, type))
    }

    func affine(_ grid: AffineGrid, _ codes: [Int32]) -> MILOperation {
        let shape = grid.blocks.count == 1 ? [] : [grid.blocks.count]
        let zeros = grid.zeroPoints ?? [Int32](repeating: 0, count: grid.blocks.count)
        return operation(
            "constexpr_affine_dequantize",
            [
                "quantized_data": .packed(codes, shape: grid.blocks.shape, as: grid.dataType),
                "zero_point": .packed(zeros, shape: shape, as: grid.dataType),
                "scale": .floats(grid.scales, shape: shape, as: type.dataType),
                "axis": .integer(Int32(axis)),
            ])
    }

    func palette(_ grid: PaletteGrid, _ codes: [Int32]) -> MILOperation {
        operation(
            "constexpr_lut_to_dense",
            [
                "indices": .uint8(BitPacking.pack(codes, bits: grid.bits)),
                "lut": .floats(grid.tables, as: type.dataType), "shape": shape,
            ])
    }

    /// Sparse weights that are not quantized; the combination of both needs iOS18.
    func sparse(_ storage: CompressedWeight.Storage, _ kept: [Bool]) -> [MILOperation] {
        let values = CompressedWeight(storage: storage).decompressed
        return [
            operation(
                "constexpr_sparse_to_dense",
                [
                    "nonzero_data": .floats(values.kept(kept), as: type.dataType),
                    "mask": .uint8(BitPacking.pack(kept.map { $0 ? 1 : 0 }, bits: 1)),
                    "shape": shape,
                ])
        ]
    }
}

/// Parameters as inputs: iOS18 and later.
private struct ConstexprInputs: ConstexprForm {
    let constant: MILOperation
    private var type: MILTensorType { constant.outputs[0].type }

    init(_ constant: MILOperation) { self.constant = constant }

    private func operation(_ kind: String, _ inputs: [String: MILValue]) -> MILOperation {
        MILOperation(
            kind, name: constant.name, inputs: inputs.mapValues { [.value($0)] },
            outputs: constant.outputs)
    }

    func cast(_ values: [Float]) -> MILOperation {
        operation("constexpr_cast", castParameters(values, type))
    }

    func affine(_ grid: AffineGrid, _ codes: [Int32]) -> MILOperation {
        var inputs = scales(grid)
        inputs["data"] = .packed(codes, shape: grid.blocks.shape, as: grid.dataType)
        return operation("constexpr_blockwise_shift_scale", inputs)
    }

    private func scales(_ grid: AffineGrid) -> [String: MILValue] {
        let shape = grid.blocks.groups
        var inputs = ["scale": MILValue.floats(grid.scales, shape: shape, as: type.dataType)]
        inputs["offset"] = grid.zeroPoints.map { .packed($0, shape: shape, as: grid.dataType) }
        return inputs
    }

    func palette(_ grid: PaletteGrid, _ codes: [Int32]) -> MILOperation {
        operation(
            "constexpr_lut_to_dense",
            [
                "indices": .packed(codes, shape: grid.blocks.shape, as: indexType(grid)),
                "lut": table(grid),
            ])
    }

    private func indexType(_ grid: PaletteGrid) -> MILDataType {
        QuantizationScheme.Weights.palette(bits: grid.bits).dataType
    }

    private func table(_ grid: PaletteGrid) -> MILValue {
        .floats(grid.tables, shape: grid.blocks.groups + [1 << grid.bits, 1], as: type.dataType)
    }

    func sparse(_ storage: CompressedWeight.Storage, _ kept: [Bool]) -> [MILOperation] {
        let mask = MILValue.packed(kept.map { $0 ? 1 : 0 }, shape: type.shape, as: .uint1)
        switch storage {
        case .unchanged(let values), .half(let values):
            let data = MILValue.floats(values.kept(kept), as: type.dataType)
            return [operation("constexpr_sparse_to_dense", ["nonzero_data": data, "mask": mask])]
        case .affine(let grid, let codes):
            var inputs = scales(grid)
            inputs["data_mask"] = mask
            inputs["nonzero_data"] = .packed(codes.kept(kept), as: grid.dataType)
            return joint("constexpr_sparse_blockwise_shift_scale", inputs, kept)
        case .palette(let grid, let codes):
            let data = MILValue.packed(codes.kept(kept), as: indexType(grid))
            return joint(
                "constexpr_lut_to_sparse",
                ["indices_mask": mask, "indices_nonzero_data": data, "lut": table(grid)], kept)
        }
    }

    /// One operation that dequantizes the nonzero elements, and one that scatters them into the
    /// dense weight.
    private func joint(
        _ kind: String, _ inputs: [String: MILValue], _ kept: [Bool]
    ) -> [MILOperation] {
        let name = constant.outputs[0].name
        let mask = MILNamedType("\(name)_mask", MILTensorType(.uint1, type.shape ?? []))
        let data = MILNamedType(
            "\(name)_nonzero_data", MILTensorType(type.dataType, [kept.count { $0 }]))
        let nonzero = MILOperation(
            kind, name: "\(constant.name)_numbers", inputs: inputs.mapValues { [.value($0)] },
            outputs: [mask, data])
        let dense = MILOperation(
            "constexpr_sparse_to_dense", name: constant.name,
            inputs: ["nonzero_data": [.name(data.name)], "mask": [.name(mask.name)]],
            outputs: constant.outputs)
        return [nonzero, dense]
    }
}

import RetintCoreMLProto
import RetintMIL
import RetintMLPackage

/// Maxima, means and lengths of windows, or of whole images.
enum Pooling: LayerFamily {
    static let readers: [String: LayerReader] = [
        "pooling": { layer in
            let proto = layer.proto.pooling
            return try layer.mapImages { x in
                proto.globalPooling
                    ? try layer.pooledWhole(x, proto) : try layer.pooled(x, proto)
            }
        },
        "globalPooling3D": { layer in
            let type = layer.proto.globalPooling3D.type
            return try layer.mapExact { x in
                guard x.shape.count == 5 else { throw layer.error("it needs five axes") }
                return try layer.add(
                    type == .maxPool3D ? "reduce_max" : "reduce_mean",
                    ["x": .name(x), "axes": .integers([2, 3, 4]), "keep_dims": .flag(true)])
            }
        },
        "pooling3D": { layer in
            let proto = layer.proto.pooling3D
            return try layer.mapExact { try layer.pooled($0, proto) }
        },
    ]
}

extension ReadLayer {
    fileprivate func pooledWhole(_ x: Blob, _ proto: ProtoPoolingLayerParams) throws -> Blob {
        let types: [ProtoPoolingLayerParams.PoolingType: String] = [
            .maxPool: "reduce_max", .averagePool: "reduce_mean", .l2Pool: "reduce_l2_norm",
        ]
        guard let type = types[proto.type] else { throw error("the pooling is of an unknown type") }
        return try add(
            type, ["x": .name(x), "axes": .integers([2, 3]), "keep_dims": .flag(true)])
    }

    fileprivate func pooled(_ x: Blob, _ proto: ProtoPoolingLayerParams) throws -> Blob {
        let kernel = try sizes(proto.kernelSize, "the kernel", default: [3, 3])
        let stride = try sizes(proto.stride, "the stride", default: [1, 1])
        var inputs: [String: MILOperand] = [
            "kernel_sizes": .integers(kernel), "strides": .integers(stride),
            "ceil_mode": .flag(false),
        ]
        var excludes = proto.avgPoolExcludePadding
        switch proto.poolingPaddingType {
        case .same(let same): inputs.merge(padding(same)) { $1 }
        case .valid(let valid):
            inputs.merge(padding(try borders(valid.paddingAmounts, "the padding"))) { $1 }
        case .includeLastPixel(let complete):
            let (amounts, isExtended) = try complete.amounts(self, x.shape, kernel, stride)
            inputs.merge(padding(amounts)) { $1 }
            if isExtended, proto.type == .averagePool, !excludes {
                guard amounts[0] == 0, amounts[2] == 0 else {
                    throw error(
                        "average pooling that counts padding in clipped windows is not supported")
                }
                excludes = true
            }
        case nil: inputs.merge(padding([0, 0, 0, 0])) { $1 }
        }
        switch proto.type {
        case .maxPool:
            inputs["x"] = .name(x)
            return try add("max_pool", inputs)
        case .averagePool:
            inputs["x"] = .name(x)
            inputs["exclude_padding_from_average"] = .flag(excludes)
            return try add("avg_pool", inputs)
        case .l2Pool:
            inputs["x"] = .name(try combined("mul", x, x))
            inputs["exclude_padding_from_average"] = .flag(false)
            let mean = try add("avg_pool", inputs)
            let sum = try combined("mul", mean, Float(kernel[0]) * Float(kernel[1]))
            return try add("sqrt", ["x": .name(sum)])
        default: throw error("the pooling is of an unknown type")
        }
    }

    fileprivate func pooled(_ x: Blob, _ proto: ProtoPooling3DLayerParams) throws -> Blob {
        func sizes(_ numbers: [Int32], _ name: String) throws -> MILOperand {
            .integers(try numbers.map { try size($0, name) })
        }
        var inputs: [String: MILOperand] = [
            "x": .name(x),
            "kernel_sizes": try sizes(
                [proto.kernelDepth, proto.kernelHeight, proto.kernelWidth], "the kernel"),
            "strides": try sizes(
                [proto.strideDepth, proto.strideHeight, proto.strideWidth], "the stride"),
            "ceil_mode": .flag(false),
        ]
        inputs.merge(
            try padding(
                proto.paddingType,
                [
                    proto.customPaddingFront, proto.customPaddingBack, proto.customPaddingTop,
                    proto.customPaddingBottom, proto.customPaddingLeft, proto.customPaddingRight,
                ])
        ) { $1 }
        if proto.type == .averagePool3D {
            inputs["exclude_padding_from_average"] = .flag(proto.countExcludePadding)
            return try add("avg_pool", inputs)
        }
        return try add("max_pool", inputs)
    }
}

extension ProtoPoolingLayerParams.ValidCompletePadding {
    /// Top, bottom, left and right, so that the last windows contain the last pixels, and whether
    /// they reach beyond the padding.
    fileprivate func amounts(
        _ layer: ReadLayer, _ shape: [Int], _ kernel: [Int], _ stride: [Int]
    ) throws -> (amounts: [Int], isExtended: Bool) {
        let before =
            paddingAmounts.isEmpty
            ? [0, 0] : try paddingAmounts.map { try layer.amount($0, "the padding") }
        guard before.count == 2 else {
            throw layer.error("the padding needs two numbers, has \(before.count)")
        }
        let isPadded = before != [0, 0]
        var isExtended = false
        let amounts = try (0..<2).flatMap { axis in
            let (size, pad) = (shape[axis + 2], before[axis])
            let (window, step) = (kernel[axis], stride[axis])
            guard size + 2 * pad >= window else {
                throw layer.error("a window of \(kernel) does not fit \(shape)")
            }
            var count = (size + 2 * pad - window + step - 1) / step + 1
            if isPadded, (count - 1) * step >= size + pad { count -= 1 }
            let after = max((count - 1) * step + window - size - pad, 0)
            if after > pad { isExtended = true }
            return [pad, after]
        }
        return (amounts, isExtended)
    }
}

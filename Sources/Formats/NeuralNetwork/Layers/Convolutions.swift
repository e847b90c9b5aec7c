import RetintCoreMLProto
import RetintMIL
import RetintMLPackage

/// Convolutions, plain and transposed.
enum Convolutions: LayerFamily {
    static let readers: [String: LayerReader] = [
        "convolution": { layer in
            let proto = layer.proto.convolution
            return try layer.mapImages { x in
                proto.isDeconvolution
                    ? try Deconvolution(layer, proto).result(x)
                    : try layer.convolved(x, proto)
            }
        },
        "convolution3D": { layer in
            let proto = layer.proto.convolution3D
            guard !proto.isDeconvolution else {
                throw layer.error("transposed convolutions of volumes are not supported")
            }
            return try layer.mapExact { try layer.convolved($0, proto) }
        },
    ]
}

/// What plain and transposed convolutions have in common.
private struct ConvolutionShape {
    let kernel: [Int]
    let stride: [Int]
    let dilation: [Int]
    let groups: Int
    let channels: (input: Int, output: Int)

    init(_ layer: ReadLayer, _ proto: ProtoConvolutionLayerParams) throws {
        kernel = try layer.sizes(proto.kernelSize, "the kernel", default: [3, 3])
        stride = try layer.sizes(proto.stride, "the stride", default: [1, 1])
        dilation = try layer.sizes(proto.dilationFactor, "the dilation", default: [1, 1])
        groups = proto.nGroups == 0 ? 1 : try layer.size(proto.nGroups, "the number of groups")
        channels = (
            try layer.size(proto.kernelChannels, "the number of the kernels' channels"),
            try layer.size(proto.outputChannels, "the number of output channels")
        )
    }

    var parameters: [String: MILOperand] {
        ["strides": .integers(stride), "groups": .integer(groups)]
    }
}

extension ReadLayer {
    fileprivate func convolved(_ x: Blob, _ proto: ProtoConvolutionLayerParams) throws -> Blob {
        let shape = try ConvolutionShape(self, proto)
        let weight = try weights(
            proto.weights, [shape.channels.output, shape.channels.input] + shape.kernel,
            "the weights")
        var inputs = shape.parameters
        inputs["x"] = .name(x)
        inputs["weight"] = .name(weight)
        inputs["dilations"] = .integers(shape.dilation)
        if let bias = try bias(proto.bias, shape.channels.output, if: proto.hasBias) {
            inputs["bias"] = .name(bias)
        }
        switch proto.convolutionPaddingType {
        case .same(let same): inputs.merge(padding(same)) { $1 }
        case .valid(let valid):
            inputs.merge(padding(try borders(valid.paddingAmounts, "the padding"))) { $1 }
        case nil: inputs.merge(padding([0, 0, 0, 0])) { $1 }
        }
        return try add("conv", inputs)
    }

    /// The padding of a convolution or a pooling.
    func padding(_ same: ProtoSamePadding) -> [String: MILOperand] {
        guard same.asymmetryMode == .topLeftHeavy else { return ["pad_type": .text("same")] }
        require(.iOS16)
        return ["pad_type": .text("same_lower")]
    }

    func padding(_ amounts: [Int]) -> [String: MILOperand] {
        ["pad_type": .text("custom"), "pad": .integers(amounts)]
    }

    fileprivate func convolved(_ x: Blob, _ proto: ProtoConvolution3DLayerParams) throws -> Blob {
        let kernel = try [proto.kernelDepth, proto.kernelHeight, proto.kernelWidth].map {
            try size($0, "the kernel")
        }
        func steps(_ numbers: [Int32], _ name: String) throws -> MILOperand {
            .integers(try numbers.map { $0 == 0 ? 1 : try size($0, name) })
        }
        let groups = proto.nGroups == 0 ? 1 : try size(proto.nGroups, "the number of groups")
        let output = try size(proto.outputChannels, "the number of output channels")
        let input = try size(proto.inputChannels, "the number of input channels")
        guard input % groups == 0 else {
            throw error("\(input) channels do not divide into \(groups) groups")
        }
        var inputs: [String: MILOperand] = [
            "x": .name(x),
            "weight": .name(
                try weights(proto.weights, [output, input / groups] + kernel, "the weights")),
            "strides": try steps(
                [proto.strideDepth, proto.strideHeight, proto.strideWidth], "the stride"),
            "dilations": try steps(
                [proto.dilationDepth, proto.dilationHeight, proto.dilationWidth], "the dilation"),
            "groups": .integer(groups),
        ]
        if let bias = try bias(proto.bias, output, if: proto.hasBias) {
            inputs["bias"] = .name(bias)
        }
        inputs.merge(
            try padding(
                proto.paddingType,
                [
                    proto.customPaddingFront, proto.customPaddingBack, proto.customPaddingTop,
                    proto.customPaddingBottom, proto.customPaddingLeft, proto.customPaddingRight,
                ])
        ) { $1 }
        return try add("conv", inputs)
    }

    /// The padding of volumes.
    func padding(
        _ type: ProtoPaddingType3D, _ amounts: [Int32]
    ) throws -> [String: MILOperand] {
        switch type {
        case .same: return ["pad_type": .text("same")]
        case .valid: return ["pad_type": .text("valid")]
        default:
            return padding(
                try amounts.map { amount in
                    guard let positive = UInt64(exactly: amount) else {
                        throw error("a padding of \(amount) is not supported")
                    }
                    return try self.amount(positive, "the padding")
                })
        }
    }
}

/// A transposed convolution, whose result is cropped.
private struct Deconvolution {
    private let layer: ReadLayer
    private let proto: ProtoConvolutionLayerParams
    private let shape: ConvolutionShape

    init(_ layer: ReadLayer, _ proto: ProtoConvolutionLayerParams) throws {
        (self.layer, self.proto) = (layer, proto)
        shape = try ConvolutionShape(layer, proto)
        guard shape.channels.output % shape.groups == 0 else {
            throw layer.error(
                "\(shape.channels.output) channels do not divide into \(shape.groups) groups")
        }
    }

    func result(_ x: Blob) throws -> Blob {
        let perGroup = shape.channels.output / shape.groups
        let weight = try layer.weights(
            proto.weights, [shape.channels.input, perGroup] + shape.kernel, "the weights", axis: 1)
        var inputs = shape.parameters
        inputs["x"] = .name(x)
        inputs["weight"] = .name(weight)
        if let bias = try layer.bias(proto.bias, shape.channels.output, if: proto.hasBias) {
            inputs["bias"] = .name(bias)
        }
        let axes = try (0..<2).map { try crop($0, x.shape[$0 + 2]) }
        inputs.merge(layer.padding(axes.flatMap { [$0.before, $0.after] })) { $1 }
        if axes.contains(where: { $0.isExtended }) {
            let sizes = axes.map(\.size)
            inputs["output_shape"] = .integers([x.shape[0], shape.channels.output] + sizes)
        }
        return try layer.add("conv_transpose", inputs)
    }

    /// What is cropped from an axis, or added to its end if a result of a given size needs it.
    private struct Crop {
        var before: Int
        var after: Int
        var size: Int
        var isExtended = false
    }

    private func crop(_ axis: Int, _ input: Int) throws -> Crop {
        let (kernel, stride) = (shape.kernel[axis], shape.stride[axis])
        let full = (input - 1) * stride + kernel
        let stated = try valid()
        if !proto.outputShape.isEmpty {
            let sizes = try layer.sizes(proto.outputShape, "the output shape", default: [1, 1])
            let (before, after) = (stated[2 * axis], stated[2 * axis + 1])
            guard full - before - after != sizes[axis] else {
                return Crop(before: before, after: after, size: sizes[axis])
            }
            return crop(full, to: sizes[axis], isTopHeavy: false)
        }
        if case .same(let same) = proto.convolutionPaddingType {
            return crop(
                full, to: input * stride, isTopHeavy: same.asymmetryMode == .topLeftHeavy)
        }
        let (before, after) = (stated[2 * axis], stated[2 * axis + 1])
        return Crop(before: before, after: after, size: full - before - after)
    }

    private func crop(_ full: Int, to size: Int, isTopHeavy: Bool) -> Crop {
        let excess = full - size
        guard excess >= 0 else { return Crop(before: 0, after: 0, size: size, isExtended: true) }
        let smaller = excess / 2
        let before = isTopHeavy ? excess - smaller : smaller
        return Crop(before: before, after: excess - before, size: size)
    }

    private func valid() throws -> [Int] {
        guard case .valid(let valid) = proto.convolutionPaddingType else { return [0, 0, 0, 0] }
        return try layer.borders(valid.paddingAmounts, "the padding")
    }
}

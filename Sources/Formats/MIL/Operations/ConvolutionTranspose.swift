import RetintGraph
import RetintMLPackage
import RetintTensors

/// `conv_transpose`. PyTorch's output padding is expressed by cropping less from the full result,
/// or by padding it if it reaches beyond the full extent.
extension ConvolutionTranspose: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let weight = node.inputShapes[1]
        _ = try lowering.required(1, of: node)
        let x = node.inputShapes[0]
        let full = window.fullExtent(Pair(x[2], x[3]), kernel: Pair(weight[2], weight[3]))
        let padding = window.padding
        let after = Pair(
            full.height - padding.top - outputSize.height,
            full.width - padding.left - outputSize.width)
        if after == Pair(padding.bottom, padding.right) {
            return try lower(node, padding: padding, size: outputSize, hasBias: true, &lowering)
        }
        return try lowerUncropped(node, full, after, &lowering)
    }

    private func lower(
        _ node: LoweredNode, padding: Padding?, size: Pair, hasBias: Bool,
        _ lowering: inout MILLowering
    ) throws -> String {
        var shape = node.shape
        (shape[2], shape[3]) = (size.height, size.width)
        var inputs = window.milParameters
        inputs["pad_type"] = .constant(.string(padding == nil ? "valid" : "custom"))
        inputs["pad"] = .integers((padding ?? 0).inMILOrder)
        inputs["x"] = try lowering.operand(node.inputs[0])
        inputs["weight"] = try lowering.operand(node.inputs[1])
        if hasBias && node.inputs.count > 2 {
            inputs["bias"] = try lowering.operand(node.inputs[2])
        }
        if !lowering.options.isFlexible { inputs["output_shape"] = .integers(shape.dimensions) }
        inputs["dilations"] = .integers(window.dilation)
        inputs["groups"] = .constant(.integer(Int32(groups)))
        return lowering.add("conv_transpose", inputs, node, shape: shape)
    }

    /// Computes the full extent, then crops it. If the output reaches beyond the full extent, pads
    /// with zeros and adds the bias last, because it applies to the padding as well.
    private func lowerUncropped(
        _ node: LoweredNode, _ full: Pair, _ after: Pair, _ lowering: inout MILLowering
    ) throws -> String {
        let isShort = min(after.height, after.width) < 0
        var value = try lower(node, padding: nil, size: full, hasBias: !isShort, &lowering)
        let kept = Pair(
            min(outputSize.height, full.height - window.padding.top),
            min(outputSize.width, full.width - window.padding.left))
        var shape = node.shape
        (shape[2], shape[3]) = (kept.height, kept.width)
        if kept != full {
            let rows = [window.padding.top, max(after.height, 0)]
            let columns = [window.padding.left, max(after.width, 0)]
            value = lowering.add(
                "crop",
                [
                    "x": .name(value), "crop_height": .integers(rows),
                    "crop_width": .integers(columns),
                ], node, shape: shape)
        }
        guard isShort else { return value }
        let amounts = [0, 0, 0, 0, 0, max(-after.height, 0), 0, max(-after.width, 0)]
        value = lowering.add(
            "pad", try Pad.milParameters(.name(value), amounts, 0, lowering), node)
        guard node.inputs.count > 2 else { return value }
        let bias = try lowering.required(2, of: node)
        let name = lowering.tensorName(node.inputs[2])
        let column = try lowering.floats(
            bias.scalars, shape: [1, bias.shape.count, 1, 1], name: name)
        return lowering.add("add", ["x": .name(value), "y": column], node)
    }

    package static let milTypes = ["conv_transpose"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let (x, weight) = try (operation.tensor("x"), operation.tensor("weight"))
        guard x.shape.rank < 5 else {
            throw operation.error("three spatial dimensions are not supported")
        }
        try operation.requireSpatial(x, weight)
        let (images, kernels) = (RowImages(x), RowImages(weight))
        var stated = try operation.unpaddedAxes(Array(weight.shape.dimensions.dropFirst(2)))
        try pad(&stated, x.shape, operation)
        let axes = images.axes(stated)
        let shape = images.image.shape
        let window = Window.image(axes).window
        let y = convTranspose2d(
            images.image, weight: kernels.image, bias: try operation.optionalTensor("bias"),
            stride: window.stride, padding: window.padding,
            outputPadding: try outputPadding(operation, x.shape, axes, shape),
            dilation: window.dilation, groups: try operation.integer("groups", default: 1))
        return [images.restored(y)]
    }

    private static func pad(
        _ axes: inout [WindowAxis], _ shape: Shape, _ operation: RaisedOperation
    ) throws {
        switch try operation.string("pad_type", default: "valid") {
        case "valid": break
        case "custom": try operation.pad(&axes)
        case "same":
            for index in axes.indices {
                let excess =
                    axes[index].fullExtent(shape[index + 2])
                    - shape[index + 2] * axes[index].stride
                guard excess >= 0, excess % 2 == 0 else {
                    throw operation.error("pad_type same is only supported for even padding")
                }
                (axes[index].before, axes[index].after) = (excess / 2, excess / 2)
            }
        case let type: throw operation.error("the pad_type \"\(type)\" is not supported")
        }
    }

    /// The rows and columns of the declared output shape beyond those that the padding leaves.
    private static func outputPadding(
        _ operation: RaisedOperation, _ x: Shape, _ axes: [WindowAxis], _ image: Shape
    ) throws -> Pair {
        guard let stated = try operation.integers("output_shape") else { return 0 }
        guard stated.count == x.rank else {
            throw operation.error("output_shape needs \(x.rank) values")
        }
        let extra = (0..<2).map { index in
            let size = index == 0 && x.rank == 3 ? 1 : stated[stated.count - 2 + index]
            return size
                - (axes[index].fullExtent(image[index + 2]) - axes[index].before
                    - axes[index].after)
        }
        return Pair(extra[0], extra[1])
    }
}

extension WindowAxis {
    /// The output size of a transposed convolution before cropping.
    fileprivate func fullExtent(_ size: Int) -> Int { (size - 1) * stride + span }
}

extension Window {
    /// The output size of a transposed convolution before cropping.
    func fullExtent(_ size: Pair, kernel: Pair) -> Pair {
        Pair(
            (size.height - 1) * stride.height + dilation.height * (kernel.height - 1) + 1,
            (size.width - 1) * stride.width + dilation.width * (kernel.width - 1) + 1)
    }
}

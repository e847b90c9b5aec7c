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
        try operation.requireImage(x, weight)
        var window = Window(
            stride: try operation.pair("strides", default: 1),
            dilation: try operation.pair("dilations", default: 1))
        let full = window.fullExtent(
            Pair(x.shape[2], x.shape[3]), kernel: Pair(weight.shape[2], weight.shape[3]))
        window.padding = try padding(operation, x.shape, window, full)
        return [
            convTranspose2d(
                x, weight: weight, bias: try operation.optionalTensor("bias"),
                stride: window.stride, padding: window.padding,
                outputPadding: try outputPadding(operation, window.padding, full),
                dilation: window.dilation, groups: try operation.integer("groups", default: 1))
        ]
    }

    private static func padding(
        _ operation: RaisedOperation, _ shape: Shape, _ window: Window, _ full: Pair
    ) throws -> Padding {
        let type = try operation.string("pad_type", default: "valid")
        switch type {
        case "valid": return 0
        case "custom": return try operation.customPadding()
        case "same":
            let height = full.height - shape[2] * window.stride.height
            let width = full.width - shape[3] * window.stride.width
            guard height >= 0, width >= 0, height % 2 == 0, width % 2 == 0 else {
                throw operation.error("pad_type same is only supported for even padding")
            }
            return Padding(top: height / 2, bottom: height / 2, left: width / 2, right: width / 2)
        default: throw operation.error("the pad_type \"\(type)\" is not supported")
        }
    }

    /// The rows and columns of the declared output shape beyond those that the padding leaves.
    private static func outputPadding(
        _ operation: RaisedOperation, _ padding: Padding, _ full: Pair
    ) throws -> Pair {
        guard let shape = try operation.integers("output_shape") else { return 0 }
        guard shape.count == 4 else { throw operation.error("output_shape needs 4 values") }
        return Pair(
            shape[2] - (full.height - padding.top - padding.bottom),
            shape[3] - (full.width - padding.left - padding.right))
    }
}

extension Window {
    /// The output size of a transposed convolution before cropping.
    func fullExtent(_ size: Pair, kernel: Pair) -> Pair {
        Pair(
            (size.height - 1) * stride.height + dilation.height * (kernel.height - 1) + 1,
            (size.width - 1) * stride.width + dilation.width * (kernel.width - 1) + 1)
    }
}

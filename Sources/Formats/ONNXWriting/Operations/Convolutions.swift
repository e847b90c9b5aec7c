import RetintMLPackage

enum Convolutions: OperationFamily {
    static let forms: [String: Form] = [
        "conv": { try $0.convolution() }, "conv_transpose": { try $0.transposedConvolution() },
    ]
}

extension TranslatedOperation {
    /// x, weight and bias of one element type.
    private func convolutionInputs() throws -> [String] {
        let dataType = type.dataType
        return try ["x", "weight"].map { try tensor($0, as: dataType) }
            + (has("bias") ? [tensor("bias", as: dataType)] : [])
    }

    /// The sides of the kernel.
    private func kernel() throws -> [Int] {
        let weight = try type(of: "weight")
        guard let shape = weight.shape, shape.count >= 3 else {
            throw error("a weight of type \(weight) is not supported")
        }
        return Array(shape.dropFirst(2))
    }

    fileprivate func convolution() throws {
        let kernel = try kernel()
        let window = try SlidingWindow(self, kernel: kernel)
        result("Conv", try convolutionInputs(), try attributes(window))
    }

    /// The part of the full extent that padding and `output_shape` leave.
    fileprivate func transposedConvolution() throws {
        let kernel = try kernel()
        var window = try SlidingWindow(self, kernel: kernel, resolvesSame: true)
        let extra = try fitOutputShape(&window)
        var attributes = try attributes(window)
        if extra.contains(where: { $0 > 0 }) { attributes.add("output_padding", .ints(extra)) }
        result("ConvTranspose", try convolutionInputs(), attributes)
    }

    private func attributes(_ window: SlidingWindow) throws -> Attributes {
        var attributes = window.attributes
        attributes.add("dilations", .ints(window.dilations))
        attributes.add("group", .int(try integer("groups", default: 1)))
        return attributes
    }

    /// Adjusts the cropping at the end so that the output has its declared shape; returns what
    /// is still missing.
    private func fitOutputShape(_ window: inout SlidingWindow) throws -> [Int] {
        var extra = [Int](repeating: 0, count: window.kernel.count)
        guard let shape = try integers("output_shape") else { return extra }
        let sizes = try type(of: "x").dimensions.dropFirst(2).compactMap(\.self)
        guard sizes.count == extra.count, shape.count >= extra.count else {
            throw error("its output_shape \(shape) needs an input of known size")
        }
        for (axis, wanted) in shape.suffix(extra.count).enumerated() {
            let left = window.fullExtent(axis, of: sizes[axis]) - window.before[axis]
            let (missing, overflow) = (wanted - left).addingReportingOverflow(window.after[axis])
            guard !overflow, wanted > 0 else { throw error("output_shape is out of range") }
            let cropped = min(missing, window.after[axis])
            window.after[axis] -= cropped
            extra[axis] = missing - cropped
        }
        return extra
    }
}

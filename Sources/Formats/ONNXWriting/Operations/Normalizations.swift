import RetintMLPackage

enum Normalizations: OperationFamily {
    static let forms: [String: Form] = [
        "batch_norm": { try $0.batchNorm() }, "instance_norm": { try $0.instanceNorm() },
        "layer_norm": { try $0.layerNorm() },
    ]
}

extension TranslatedOperation {
    /// A vector of the operation's type; if it is omitted, one of equal elements.
    private func vector(
        _ parameter: String, default standard: Float, count: Int
    ) throws -> String {
        guard !has(parameter) else { return try tensor(parameter, as: type.dataType) }
        let values = [Float](repeating: standard, count: count)
        return try constant(.floats(values, as: type.dataType), parameter)
    }

    private func channelCount() throws -> Int {
        let x = try type(of: "x")
        guard x.rank >= 2, let count = x.dimensions[1], count <= 1 << 24 else {
            throw error("the number of channels of \(x) is not known")
        }
        return count
    }

    fileprivate func batchNorm() throws {
        let count = try channelCount()
        result(
            "BatchNormalization",
            [
                try tensor("x"), try vector("gamma", default: 1, count: count),
                try vector("beta", default: 0, count: count),
                try tensor("mean", as: type.dataType), try tensor("variance", as: type.dataType),
            ], ["epsilon": .float(try float("epsilon", default: 1e-5))])
    }

    fileprivate func instanceNorm() throws {
        let count = try channelCount()
        result(
            "InstanceNormalization",
            [
                try tensor("x"), try vector("gamma", default: 1, count: count),
                try vector("beta", default: 0, count: count),
            ], ["epsilon": .float(try float("epsilon", default: 1e-5))])
    }

    /// From opset 17 on as one node, if the axes are the last ones.
    fileprivate func layerNorm() throws {
        let x = try type(of: "x")
        let axes = try axes(try integers("axes") ?? Array(0..<x.rank), rank: x.rank).sorted()
        let isTrailing = axes == Array((x.rank - axes.count)..<x.rank)
        let sizes = axes.compactMap { x.dimensions[$0] }
        guard !axes.isEmpty, sizes.count == axes.count else {
            throw error("the sizes of axes \(axes) of \(x) are not known")
        }
        guard isTrailing, opset >= 17 else { return try composedNorm(axes, sizes) }
        let scale =
            has("gamma")
            ? try tensor("gamma", as: type.dataType)
            : try constant(
                .floats(
                    [Float](repeating: 1, count: sizes.reduce(1, *)), shape: sizes,
                    as: type.dataType), "gamma")
        let shift = try has("beta") ? [tensor("beta", as: type.dataType)] : []
        result(
            "LayerNormalization", [try tensor("x"), scale] + shift,
            ["axis": .int(axes[0]), "epsilon": .float(try float("epsilon", default: 1e-5))])
    }

    /// Composed of means, a product and a sum.
    private func composedNorm(_ axes: [Int], _ sizes: [Int]) throws {
        let x = try tensor("x")
        let centered = step("Sub", [x, try mean(x, axes)])
        let variance = try mean(step("Mul", [centered, centered]), axes)
        let epsilon = try number(float("epsilon", default: 1e-5), "epsilon")
        let deviation = step("Sqrt", [step("Add", [variance, epsilon])])
        var value = step("Div", [centered, deviation])
        if has("gamma") { value = step("Mul", [value, try spread("gamma", axes, sizes)]) }
        if has("beta") { value = step("Add", [value, try spread("beta", axes, sizes)]) }
        result("Identity", [value])
    }

    private func mean(_ value: String, _ axes: [Int]) throws -> String {
        let (inputs, attributes) = try reduction("ReduceMean", value, axes, keepsAxes: true)
        return step("ReduceMean", inputs, attributes)
    }

    /// A vector with the extents of `axes`, of a shape that broadcasts against x.
    private func spread(_ parameter: String, _ axes: [Int], _ sizes: [Int]) throws -> String {
        var shape = [Int](repeating: 1, count: try type(of: "x").rank)
        for (axis, size) in zip(axes, sizes) { shape[axis] = size }
        let vector = try tensor(parameter, as: type.dataType)
        return step("Reshape", [vector, try integers(shape, "\(parameter)_shape")])
    }
}

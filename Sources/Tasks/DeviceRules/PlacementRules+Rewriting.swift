import RetintMLPackage

/// The equivalents that avoid wrong numbers. Each function adds operations that compute the same
/// value and returns true, or adds nothing and returns false.
extension PlacementRule {
    /// max(x, 0) + log(1 + exp(-|x|)).
    @Sendable static func stableSoftplus(
        _ operation: PlacedOperation, _ program: inout ProgramRewriting
    ) -> Bool {
        let isOperation = operation.type == "softplus"
        guard let x = isOperation ? operation.operation.inputs["x"]?.first : operation.softplusInput
        else { return false }
        let one = program.constant(1)
        let size = program.add("abs", ["x": [x]])
        let negative = program.add("mul", ["x": [size], "y": [program.constant(-1)]])
        let power = program.add("exp", ["x": [negative]])
        let sum = program.add("add", ["x": [power], "y": [one]])
        let logarithm = program.add("log", ["x": [sum], "epsilon": [program.constant(0)]])
        let positive = program.add("relu", ["x": [x]])
        program.finish("add", ["x": [positive], "y": [logarithm]])
        return true
    }

    /// m + log Σ exp(x - m), where m is the largest x.
    @Sendable static func stableLogSumExp(
        _ operation: PlacedOperation, _ program: inout ProgramRewriting
    ) -> Bool {
        guard let (argument, summed) = operation.logSumExp, let shape = summed.input("x")?.shape
        else { return false }
        let x = [argument]
        let axes = summed.integers("axes") ?? Array(shape.indices)
        let normalized = axes.map { $0 < 0 ? $0 + shape.count : $0 }
        guard normalized.allSatisfy(shape.indices.contains) else { return false }
        var reduced = shape
        for axis in normalized { reduced[axis] = 1 }
        let over = summed.operation.inputs.filter { $0.key == "axes" }
        let keeps = ["keep_dims": [program.constant(true)]]
        let largest = program.add(
            "reduce_max", over.merging(keeps) { $1 }.merging(["x": x]) { $1 }, reduced)
        let rest = program.add("sub", ["x": x, "y": [largest]], shape)
        let powers = program.add("exp", ["x": [rest]], shape)
        let kept = summed.operation.inputs.filter { ["axes", "keep_dims"].contains($0.key) }
        let sum = program.add("reduce_sum", kept.merging(["x": [powers]]) { $1 })
        let logarithm = program.add("log", ["x": [sum], "epsilon": [program.constant(0)]])
        let size = program.constant(operation.output?.shape ?? [])
        let offset = program.add("reshape", ["x": [largest], "shape": [size]])
        program.finish("add", ["x": [logarithm], "y": [offset]])
        return true
    }

    /// The whole result of a transposed convolution, then a crop.
    @Sendable static func croppedConvolution(
        _ operation: PlacedOperation, _ program: inout ProgramRewriting
    ) -> Bool {
        guard let extent = TransposedExtent(operation), let output = operation.output?.shape,
            (extent.before + extent.after).allSatisfy({ $0 >= 0 })
        else { return false }
        var inputs = operation.operation.inputs
        inputs["output_shape"] = nil
        inputs["pad"] = [program.constant([0, 0, 0, 0])]
        inputs["pad_type"] = [program.constant("valid")]
        let whole = program.add("conv_transpose", inputs, output.prefix(2) + extent.full)
        program.finish(
            "crop",
            [
                "x": [whole],
                "crop_height": [program.constant([extent.before[0], extent.after[0]])],
                "crop_width": [program.constant([extent.before[1], extent.after[1]])],
            ])
        return true
    }
}

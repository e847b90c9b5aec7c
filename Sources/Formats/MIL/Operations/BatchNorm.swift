import RetintGraph
import RetintMLPackage
import RetintTensors

/// `batch_norm`, unless it can be folded into the preceding convolution.
///
/// In float16, the statistics are merged into scale and shift in advance, with mean 0 and
/// variance + ε = 1, because a small ε or variance would lose precision.
extension BatchNormInference: MILLowerable, MILRaisable {
    package func absorbsInput(of node: LoweredNode, in lowering: MILLowering) -> Bool {
        let producer = lowering.node(node.inputs[0])
        return lowering.options.foldsBatchNorm && producer.operation is Convolution
            && lowering.isUsedOnce(producer.id)
            && (node.inputs.dropFirst() + producer.inputs.dropFirst())
                .allSatisfy { lowering.constant($0) != nil }
    }

    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let affine = try affine(node, lowering)
        if node.absorbsInput { return try lowerFolded(node, affine, &lowering) }
        if node.shape.rank == 2 { return try lowerAsMultiplyAdd(node, affine, &lowering) }
        return try lowering.precision == .float16
            ? lowerNormalized(node, affine, &lowering) : lowerDirectly(node, &lowering)
    }

    /// The normalization of each channel as y = scale·x + shift.
    private struct Affine {
        var scale: [Double] = []
        var shift: [Double] = []
    }

    private func affine(_ node: LoweredNode, _ lowering: MILLowering) throws -> Affine {
        let vectors = try (1...4).map { try lowering.required($0, of: node).scalars }
        var affine = Affine()
        for channel in vectors[0].indices {
            let deviation = (Double(vectors[3][channel]) + Double(epsilon)).squareRoot()
            let scale = Double(vectors[0][channel]) / deviation
            affine.scale.append(scale)
            affine.shift.append(Double(vectors[1][channel]) - Double(vectors[2][channel]) * scale)
        }
        return affine
    }

    private func lowerFolded(
        _ node: LoweredNode, _ affine: Affine, _ lowering: inout MILLowering
    ) throws -> String {
        let producer = lowering.node(node.inputs[0])
        guard let convolution = producer.operation as? Convolution else { return "" }
        let weight = try lowering.required(1, of: producer)
        let size = weight.shape.count / max(weight.shape[0], 1)
        let scaled = weight.scalars.indices.map {
            Float(Double(weight.scalars[$0]) * affine.scale[$0 / size])
        }
        let bias = try producer.inputs.count > 2 ? lowering.required(2, of: producer).scalars : nil
        let shifted = affine.shift.indices.map {
            Float(affine.shift[$0] + Double(bias?[$0] ?? 0) * affine.scale[$0])
        }
        let (name, biasName) = (lowering.tensorName(producer.inputs[1]), "\(producer.name).bias")
        lowering.noteFolding(of: node)
        return try convolution.lower(
            producer, input: producer.inputs[0],
            weight: lowering.floats(scaled, shape: weight.shape, name: name),
            bias: lowering.floats(shifted, shape: [shifted.count], name: biasName), &lowering)
    }

    /// For [N, C] inputs, which Core ML's `batch_norm` does not support.
    private func lowerAsMultiplyAdd(
        _ node: LoweredNode, _ affine: Affine, _ lowering: inout MILLowering
    ) throws -> String {
        let channels: Shape = [affine.scale.count]
        let scale = try lowering.floats(
            affine.scale.map { Float($0) }, shape: channels, name: "\(node.name).scale")
        let shift = try lowering.floats(
            affine.shift.map { Float($0) }, shape: channels, name: "\(node.name).shift")
        let x = try lowering.operand(node.inputs[0])
        let product = lowering.add("mul", ["x": x, "y": scale], node)
        return lowering.add("add", ["x": .name(product), "y": shift], node)
    }

    /// With the statistics merged into gamma and beta.
    private func lowerNormalized(
        _ node: LoweredNode, _ affine: Affine, _ lowering: inout MILLowering
    ) throws -> String {
        // ε and 1 − ε are float16 values whose sum is exactly 1.
        let epsilon: Float = 0x1p-10
        let count = affine.scale.count
        func vector(_ scalars: [Float], _ name: String) throws -> MILOperand {
            try lowering.floats(scalars, shape: [count], name: "\(node.name).\(name)")
        }
        return lowering.add(
            "batch_norm",
            [
                "x": try lowering.operand(node.inputs[0]),
                "gamma": try vector(affine.scale.map { Float($0) }, "gamma"),
                "beta": try vector(affine.shift.map { Float($0) }, "beta"),
                "mean": try vector([Float](repeating: 0, count: count), "mean"),
                "variance": try vector([Float](repeating: 1 - epsilon, count: count), "variance"),
                "epsilon": try lowering.float(epsilon, name: "\(node.name).epsilon"),
            ], node)
    }

    /// With the network's own statistics and ε.
    private func lowerDirectly(
        _ node: LoweredNode, _ lowering: inout MILLowering
    ) throws -> String {
        var inputs = ["epsilon": try lowering.float(epsilon, name: "\(node.name).epsilon")]
        for (index, parameter) in ["x", "gamma", "beta", "mean", "variance"].enumerated() {
            inputs[parameter] = try lowering.operand(node.inputs[index])
        }
        return lowering.add("batch_norm", inputs, node)
    }

    package static let milTypes = ["batch_norm"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let mean = try operation.tensor("mean")
        let like = { (value: Float) in
            x.graph.constant(TensorData(shape: mean.shape, repeating: value))
        }
        return [
            batchNorm(
                x, weight: try operation.optionalTensor("gamma") ?? like(1),
                bias: try operation.optionalTensor("beta") ?? like(0), mean: mean,
                variance: try operation.tensor("variance"),
                epsilon: try operation.float("epsilon", default: 1e-5))
        ]
    }
}

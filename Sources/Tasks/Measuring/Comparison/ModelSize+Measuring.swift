import RetintCheckpoints
import RetintExport
import RetintFiles
import RetintGraph
import RetintLayers
import RetintMLPackage
import RetintQuantization
import RetintRuntime

/// The cost of a model, regardless of its format on disk.
struct ModelCost {
    let parameters: Int
    let multiplyAdds: Int

    /// - Throws: `ModelError` if the model does not run at that size.
    init(of model: Model, height: Int, width: Int) throws {
        let input = try model.lightnessInput().name
        let graph = try model.graph(shapes: [input: [1, 1, height, width]], folds: false)
        parameters = graph.graph.nodes.reduce(0) { sum, node in
            let isParameter = (node.operation as? Variable)?.role == .parameter
            return isParameter ? sum + node.shape.count : sum
        }
        multiplyAdds = RetintGraph.multiplyAdds(of: graph.outputs.map(\.value))
    }
}

extension ModelComparison.Size {
    /// Measures a model; a checkpoint is exported to a temporary folder.
    init(of model: Model, imageSize: Int) throws {
        let cost = try ModelCost(of: model, height: imageSize, width: imageSize)
        (parameters, multiplyAdds) = (cost.parameters, cost.multiplyAdds)
        switch model.source {
        case .package(let package):
            operations = package.operationCount
            packageBytes = try fileBytes(of: package, at: model.name)
            (float16Bytes, int8Bytes) = (nil, nil)
        case .network(let network):
            operations = network.operationCount
            (packageBytes, float16Bytes, int8Bytes) = (nil, nil, nil)
        case .checkpoint(let checkpoint):
            let half = try checkpoint.checkpoint().halfPackage(size: imageSize)
            operations = half.operationCount
            packageBytes = nil
            float16Bytes = try half.writtenBytes()
            int8Bytes = try half.quantized(QuantizationPlan(.init(.int8))).package.writtenBytes()
        }
    }
}

extension Checkpoint {
    /// The checkpoint's package with float16 weights. Weights beyond float16 are clamped: they do
    /// not change the size.
    func halfPackage(size: Int) throws -> MLPackage {
        var options = ExportOptions(precision: .float16, target: .iOS16, size: size)
        options.clampsWeights = true
        return try package(options)
    }
}

extension MLPackage {
    /// Operations that compute: no constants, and no decompression of weights.
    var operationCount: Int {
        program.operations.count { !$0.isConstant && !$0.isConstantExpression }
    }
}

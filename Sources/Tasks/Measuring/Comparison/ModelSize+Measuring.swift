import RetintCheckpoints
import RetintExport
import RetintFiles
import RetintGraph
import RetintLayers
import RetintMLPackage
import RetintQuantization
import RetintRuntime
import RetintTensors

/// The cost of a model, regardless of its format on disk.
struct ModelCost {
    let parameters: Int
    let multiplyAdds: Int

    /// - Parameter size: the side of images; nil for the model's own size.
    /// - Throws: `ModelError` if the model does not run at that size.
    init(of model: Model, size: Int?) throws {
        let graph = try model.graph(shapes: Self.shapes(of: model, size: size), folds: false)
        parameters = graph.graph.nodes.reduce(0) { sum, node in
            let isParameter = (node.operation as? Variable)?.role == .parameter
            return isParameter ? sum + node.shape.count : sum
        }
        multiplyAdds = RetintGraph.multiplyAdds(of: graph.outputs.map(\.value))
    }

    /// One image for a colorizer.
    private static func shapes(of model: Model, size: Int?) throws -> [String: Shape] {
        guard try model.interface.isColorizer else {
            return try model.inputShapesByName(size: size.map { .init($0) })
        }
        let (height, width) = try model.size(ofSide: size)
        return [try model.lightnessInput().name: [1, 1, height, width]]
    }
}

extension ModelComparison.Size {
    /// Measures a model; a network is exported to a temporary folder.
    ///
    /// - Parameter size: the side of images; nil for the model's own size.
    init(of model: Model, size: Int?) throws {
        let cost = try ModelCost(of: model, size: size)
        (parameters, multiplyAdds) = (cost.parameters, cost.multiplyAdds)
        if let package = model.package {
            operations = package.operationCount
            packageBytes = try fileBytes(of: package, at: model.name)
            (float16Bytes, int8Bytes) = (nil, nil)
            return
        }
        packageBytes = nil
        let half: MLPackage
        do {
            half = try model.halfPackage(size: size)
        } catch {
            guard case .network(let network) = model.source else { throw error }
            operations = network.operationCount
            (float16Bytes, int8Bytes) = (nil, nil)
            return
        }
        operations = half.operationCount
        float16Bytes = try half.writtenBytes()
        int8Bytes = try? half.quantized(QuantizationPlan(.init(.int8))).package.writtenBytes()
    }
}

extension Model {
    /// The package itself, or that of the network with float16 weights. Weights beyond float16 are
    /// clamped: they do not change the size.
    ///
    /// - Parameter size: the side of images; nil for the model's own size.
    func halfPackage(size: Int?) throws -> MLPackage {
        if let package { return package }
        var options = ExportOptions(precision: .float16, target: .iOS16)
        options.clampsWeights = true
        guard let checkpoint else {
            if let size { (options.height, options.width) = (size, size) }
            return try converted(options, sizes: size != nil).package
        }
        (options.height, options.width) = try self.size(ofSide: size)
        return try checkpoint.checkpoint().package(options)
    }
}

extension MLPackage {
    /// Operations that compute: no constants, and no decompression of weights.
    var operationCount: Int {
        program.operations.count { !$0.isConstant && !$0.isConstantExpression }
    }
}

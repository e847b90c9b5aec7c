import RetintCheckpoints
import RetintColoring
import RetintDistributed
import RetintEngine
import RetintExport
import RetintPhotoData
import RetintRuntime

extension ModelComparison {
    /// Measures the size, the time and the quality of several models under the same conditions.
    ///
    ///     let models = try ["large.h5", "small.mlpackage"].map { try Model(contentsOf: $0) }
    ///     let photos = try PhotoReference.list("photos")
    ///     let comparison = try await ModelComparison(of: models, photos: photos)
    ///     for model in comparison.models { print(model.name, model.medianSeconds) }
    ///
    /// The size of a checkpoint or an ONNX file is that of its package with float16 and with int8
    /// weights; a package is measured as it is. Models that are not colorizers run on random
    /// values. Times are compared with ECCV16 (Zhang et al., "Colorful Image Colorization", 2016)
    /// with random weights: each round runs all models and ECCV16 alternately, so that a changing
    /// clock rate affects all of them equally. Other work on the machine distorts the times.
    ///
    /// - Parameters:
    ///   - models: models of any kind, at least one. ECCV16 runs as the first one does.
    ///   - size: the side, in pixels, of the square images that all models take; nil for that of
    ///     the first colorizer that takes only one, else 256; for other models their own size.
    ///   - rounds: rounds of timing, at least 1.
    ///   - photos: the photos for measuring quality; without photos it is not measured.
    ///   - features: also compares features, see ``EvaluationReport/ColorQuality/frechetDistance``.
    ///   - onProgress: called on another thread.
    /// - Throws: `ModelError` if photos are given and a model is not a colorizer, or a model does
    ///   not run at that size or returns colors that are not finite; `ConversionError` if a
    ///   checkpoint cannot be exported; ``EvaluationError`` if photos are given and none can be
    ///   read; `CancellationError` if the task is cancelled.
    public init(
        of models: [Model], size: Int? = nil, rounds: Int = 5, photos: [PhotoReference] = [],
        features: FeatureNetwork? = nil,
        onProgress: @escaping @Sendable (ModelComparison.Progress) -> Void = { _ in }
    ) async throws {
        self = try await onNewThread { isCancelled in
            let run = ComparisonRun(
                models: models, size: size, colorizerSize: try size ?? models.colorizerSide,
                rounds: max(rounds, 1), features: features,
                execution: models.first?.execution ?? Execution(), onProgress: onProgress)
            return try run.comparison(on: photos, isCancelled)
        }
    }
}

extension [Model] {
    /// The side of square images for all colorizers: that of the first one that takes only one.
    fileprivate var colorizerSide: Int {
        get throws {
            for model in self {
                let interface = try model.interface
                guard interface.isColorizer, let shapes = interface.onlyChannel?.shapes,
                    let side = shapes.only(2), shapes.only(3) == side
                else { continue }
                return side
            }
            return ModelInterface.usualSide
        }
    }
}

/// One comparison, step by step.
private struct ComparisonRun {
    let models: [Model]
    let size: Int?
    /// The side of images that colorizers color.
    let colorizerSize: Int
    let rounds: Int
    let features: FeatureNetwork?
    let execution: Execution
    let onProgress: @Sendable (ModelComparison.Progress) -> Void

    private func size(for model: Model) throws -> Int? {
        try model.interface.isColorizer ? colorizerSize : size
    }

    func comparison(
        on photos: [PhotoReference], _ isCancelled: () -> Bool
    ) throws -> ModelComparison {
        let reference = Model(
            try CheckpointSource(.named("eccv16"), seed: 0), execution: execution)
        let sizes = try sizes(isCancelled)
        let times = try times(reference, isCancelled)
        let qualities = try qualities(on: photos, isCancelled)
        let entries = models.indices.map { index in
            ModelComparison.Entry(
                name: models[index].name, size: sizes[index],
                medianSeconds: times.models[index].seconds,
                speedup: times.models[index].speedup, quality: qualities?[index])
        }
        let cost = try ModelCost(of: reference, size: colorizerSize)
        return ModelComparison(
            size: colorizerSize, rounds: rounds,
            reference: .init(
                architecture: reference.name, parameters: cost.parameters,
                multiplyAdds: cost.multiplyAdds, medianSeconds: times.reference),
            models: entries)
    }

    private func sizes(_ isCancelled: () -> Bool) throws -> [ModelComparison.Size] {
        onProgress(.sized(models: 0, total: models.count))
        return try models.enumerated().map { index, model in
            try checkCancellation(isCancelled)
            let size = try ModelComparison.Size(of: model, size: self.size(for: model))
            onProgress(.sized(models: index + 1, total: models.count))
            return size
        }
    }

    private func times(
        _ reference: Model, _ isCancelled: () -> Bool
    ) throws -> ComparedTimes {
        var timing = try ComparisonTiming(models, reference, size: self.size(for:))
        onProgress(.timed(rounds: 0, total: rounds))
        for round in 0..<rounds {
            try checkCancellation(isCancelled)
            try timing.addRound()
            onProgress(.timed(rounds: round + 1, total: rounds))
        }
        return timing.medians
    }

    /// - Returns: nil without photos.
    private func qualities(
        on references: [PhotoReference], _ isCancelled: () -> Bool
    ) throws -> [EvaluationReport]? {
        if references.isEmpty { return nil }
        let size = colorizerSize
        let scale = EvaluationScale.network(height: size, width: size)
        let photos = try EvaluationPhotos(
            references, scale: scale, ranks: .single, isCancelled: isCancelled,
            onProgress: { onProgress(.evaluating(model: nil, $0)) })
        let features = try features?.program(threads: execution.threads)
        return try models.map { model in
            let colorizer = try Colorizer(model, size: size, fitting: .square)
            return try evaluation(
                of: colorizer, named: model.name, on: photos, scale: scale,
                features: features, isCancelled: isCancelled,
                onProgress: { onProgress(.evaluating(model: model.name, $0)) })
        }
    }
}

import RetintColoring
import RetintDistributed
import RetintEngine
import RetintPhotoData
import RetintRuntime

extension Model {
    /// Measures how well a model colors photos whose colors are known.
    ///
    ///     let photos = try PhotoReference.list("photos")
    ///     let report = try await Model(contentsOf: "colorizer.h5").evaluate(on: photos)
    ///     print(report.colored.quality.deltaE2000, report.gray.quality.deltaE2000)
    ///
    /// Photos that cannot be read are left out and listed in the report. Up to 512 MiB of decoded
    /// photos are kept in memory; the others are decoded twice.
    ///
    /// - Parameters:
    ///   - photos: the photos, in color.
    ///   - options: how the photos are compared.
    ///   - ranks: the processes that split the photos, all with the same arguments. Each receives
    ///     the whole report, which is the same as for one process.
    ///   - onProgress: called on another thread.
    ///   - onColored: called on another thread for each photo that this rank colored.
    /// - Throws: ``EvaluationError`` if no photo can be read; `PhotoError` if none of them has a
    ///   box around skin; `ModelError` if the model is not a
    ///   colorizer, does not run at that size or returns colors that are not finite;
    ///   `CancellationError` if the task is cancelled, which takes effect after a few photos;
    ///   `RankError` if ranks cannot reach each other.
    public func evaluate(
        on photos: [PhotoReference], _ options: EvaluationOptions = .init(),
        ranks: Communicator = .single,
        onProgress: @escaping @Sendable (EvaluationReport.Progress) -> Void = { _ in },
        onColored: @escaping @Sendable (EvaluationReport.ColoredPhoto) -> Void = { _ in }
    ) async throws -> EvaluationReport {
        try await onNewThread { isCancelled in
            try options.skin?.check(photos)
            let colorizer = try Colorizer(
                self, size: options.size, fitting: options.fitting ?? .square)
            let (height, width) = colorizer.networkSize
            let scale: EvaluationScale =
                options.fitting == nil ? .network(height: height, width: width) : .photo
            let readable = try EvaluationPhotos(
                photos, scale: scale, ranks: ranks, isCancelled: isCancelled, onProgress: onProgress
            )
            return try evaluation(
                of: colorizer, named: name, on: readable, scale: scale,
                oldPhoto: options.oldPhoto, skin: options.skin,
                features: try options.features?.program(threads: execution.threads),
                isCancelled: isCancelled, onProgress: onProgress, onColored: onColored)
        }
    }
}

/// Evaluates a model on photos that have been read.
func evaluation(
    of colorizer: Colorizer, named name: String, on readable: EvaluationPhotos,
    scale: EvaluationScale, oldPhoto: OldPhotoSettings = .init(), skin: SkinMeasure? = nil,
    features: FeatureProgram?, isCancelled: () -> Bool,
    onProgress: @escaping @Sendable (EvaluationReport.Progress) -> Void,
    onColored: (EvaluationReport.ColoredPhoto) -> Void = { _ in }
) throws -> EvaluationReport {
    let evaluation = Evaluation(
        colorizer, scale, meanColor: readable.meanColor, oldPhoto: oldPhoto,
        features: features, skin: skin)
    let progress = SharedProgress(readable.count, readable.ranks) {
        onProgress(.colored(photos: $0, total: readable.count))
    }
    var measures: [Int: Evaluation.Measures] = [:]
    for first in stride(from: 0, to: readable.own.count, by: evaluation.batch) {
        try checkCancellation(isCancelled)
        for result in try evaluation.measure(readable.own[first...].prefix(evaluation.batch)) {
            measures[result.photo.index] = result.measures
            onColored(result.photo)
        }
        progress.update(measures.count)
    }
    let all = try readable.gather(measures)
    progress.finish()
    guard let report = evaluation.report(on: name, all, failures: readable.failures) else {
        throw EvaluationError(failures: readable.failures)
    }
    return report
}

/// - Throws: `CancellationError` if the calling task was cancelled.
func checkCancellation(_ isCancelled: () -> Bool) throws(CancellationError) {
    if isCancelled() { throw CancellationError() }
}

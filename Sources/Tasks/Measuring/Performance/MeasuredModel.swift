import RetintCheckpoints
import RetintDeviceRules
import RetintFiles
import RetintMLPackage
import RetintRuntime

/// The measurements of a model, and the model itself.
struct MeasuredModel {
    let model: Model
    let program: ModelProgram
    let startup: PerformanceReport.Startup
    let memory: PerformanceReport.PeakMemory?
    let seconds: [Double]
    let profile: PerformanceReport.OperationTimes
    let video: PerformanceReport.VideoPerformance?

    func performance(fps: Double) throws -> PerformanceReport.ModelPerformance {
        let shape = program.inputShape
        let cost = try ModelCost(of: model, height: shape[2], width: shape[3])
        let (package, problem) = exported(size: shape[2])
        let prediction = PerformanceReport.DurationSummary(seconds)
        return PerformanceReport.ModelPerformance(
            name: model.name,
            kind: (model.checkpoint == nil ? ModelFormat.coreML : .checkpoint).kind,
            architecture: model.checkpoint?.network.architecture,
            fileBytes: try totalBytes(of: model.name), precision: model.precision,
            height: shape[2], width: shape[3], parameters: cost.parameters,
            multiplyAdds: cost.multiplyAdds, operations: package?.operationCount,
            startup: startup, memory: memory, prediction: prediction,
            predictionsPerSecond: Double(seconds.count) / seconds.reduce(0, +),
            live: PerformanceReport.LiveSource(fps: fps, predictions: seconds),
            rates: PerformanceReport.LiveSource.commonRates.map {
                PerformanceReport.LiveSource(fps: $0, predictions: seconds)
            },
            video: video, profile: profile, placement: package.map { PlacementReport($0) },
            exportProblem: problem, predictionSeconds: seconds)
    }

    /// The package itself, or that of the checkpoint; or why it has none.
    private func exported(size: Int) -> (MLPackage?, problem: String?) {
        if let package = model.package { return (package, nil) }
        do {
            return (try model.checkpoint?.checkpoint().halfPackage(size: size), nil)
        } catch {
            return (nil, "\(error)")
        }
    }
}

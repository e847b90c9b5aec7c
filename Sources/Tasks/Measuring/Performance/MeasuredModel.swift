import RetintCheckpoints
import RetintDeviceRules
import RetintFiles
import RetintMLPackage
import RetintRuntime

/// The measurements of a model, and the model itself.
struct MeasuredModel {
    let model: Model
    let program: ModelProgram
    let startup: Startup
    let memory: PeakMemory?
    let seconds: [Double]
    let profile: OperationTimes
    let film: FilmPerformance?

    func performance(fps: Double) throws -> ModelPerformance {
        let shape = program.inputShape
        let cost = try ModelCost(of: model, height: shape[2], width: shape[3])
        let (package, problem) = exported(size: shape[2])
        let prediction = DurationSummary(seconds)
        return ModelPerformance(
            name: model.name,
            kind: (model.checkpoint == nil ? ModelFormat.coreML : .checkpoint).kind,
            architecture: model.checkpoint?.network.architecture,
            fileBytes: try totalBytes(of: model.name), precision: model.precision,
            height: shape[2], width: shape[3], parameters: cost.parameters,
            multiplyAdds: cost.multiplyAdds, operations: package?.operationCount,
            startup: startup, memory: memory, prediction: prediction,
            predictionsPerSecond: Double(seconds.count) / seconds.reduce(0, +),
            live: LiveSource(fps: fps, predictions: seconds),
            rates: LiveSource.commonRates.map { LiveSource(fps: $0, predictions: seconds) },
            film: film, profile: profile, placement: package.map { PlacementReport($0) },
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

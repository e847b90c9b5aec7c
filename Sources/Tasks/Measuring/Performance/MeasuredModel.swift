import RetintCheckpoints
import RetintDeviceRules
import RetintFiles
import RetintMLPackage
import RetintRuntime

/// The measurements of a model, and the model itself.
struct MeasuredModel {
    let model: Model
    let size: Int?
    let program: SampledProgram
    let startup: PerformanceReport.Startup
    let memory: PerformanceReport.PeakMemory?
    let seconds: [Double]
    let profile: PerformanceReport.OperationTimes
    let video: PerformanceReport.VideoPerformance?

    func performance(fps: Double) throws -> PerformanceReport.ModelPerformance {
        let cost = try ModelCost(of: model, size: size)
        let (package, problem) = exported()
        let prediction = PerformanceReport.DurationSummary(seconds)
        return PerformanceReport.ModelPerformance(
            name: model.name,
            kind: model.format.kind,
            architecture: model.checkpoint?.network.architecture,
            fileBytes: try totalBytes(of: model.name), precision: model.precision,
            isColorizer: program.program.isColorizer, height: program.size?.height,
            width: program.size?.width, parameters: cost.parameters,
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

    /// The package itself, or that of the network; or why it has none.
    private func exported() -> (MLPackage?, problem: String?) {
        do {
            return (try model.halfPackage(size: size), nil)
        } catch {
            return (nil, "\(error)")
        }
    }
}

extension Model {
    /// The format of its file; packages of all formats are read as one.
    fileprivate var format: ModelFormat {
        switch source {
        case .checkpoint: .checkpoint
        case .package: .coreML
        case .network: .onnx
        }
    }
}

import Retint

extension PerformanceReport {
    /// The model and, if there is one, the other model.
    var models: [PerformanceReport.ModelPerformance] { [model] + (against.map { [$0] } ?? []) }

    /// The models' names without their folders, for narrow columns; with them if the names are the
    /// same.
    var shortNames: [String] {
        let short = models.map { String($0.name.split(separator: "/").last ?? "") }
        return Set(short).count == models.count && !short.contains("") ? short : models.map(\.name)
    }

    /// A warning if the measurements were disturbed; nil if not.
    var warning: String? {
        guard let share = machine.otherWorkShare, share >= 0.05 else { return nil }
        return "other work used \(Format.percent(share)) of the processors during the predictions; "
            + "measure again on an idle machine"
    }

    /// For each model, whether it is fast enough.
    var headlines: [String] { models.map { "\($0.name): \($0.headline)" } }

    /// The machine, the threads and the kernels.
    var machineText: String {
        let tuned =
            machine.tunedConvolutions == 0
            ? "convolution algorithms by rule of thumb"
            : "\(machine.tunedConvolutions) convolutions tuned on this machine"
        let others = machine.otherWorkShare.map {
            "; other work used \(Format.percent($0)) of the processors during the predictions"
        }
        return "\(machine.threads) of \(machine.processors) processors, OpenBLAS kernels for "
            + "\(machine.blasCore), \(tuned)\(others ?? "")"
    }
}

extension PerformanceReport.ModelPerformance {
    /// The share of the frames that are colored in time, and the median and the 99th percentile of
    /// the predictions.
    var headline: String {
        "at \(live.fpsText) fps, \(Format.percent(live.inTimeShare)) of "
            + "\(Format.grouped(live.frames)) frames are \(isColorizer ? "colored" : "done") in "
            + "time and \(Format.grouped(live.dropped)) are dropped; median "
            + "\(Format.duration(prediction.medianSeconds)), 99th percentile "
            + "\(Format.duration(prediction.p99Seconds)) of "
            + "\(Format.grouped(prediction.count)) predictions"
    }

    /// A description of the model.
    var text: String {
        let form =
            architecture.map { "checkpoint of \($0)" } ?? (kind == "onnx" ? "ONNX" : "package")
        let size = width.flatMap { width in height.map { " on images of \(width) × \($0)" } }
        return "\(form), \(precision.rawValue) weights, computed in float32\(size ?? "")"
    }

    /// How far the sum of the steps is from a whole prediction.
    var profileText: String {
        "\(profile.steps.count) steps take \(Format.duration(profile.stepsSeconds)), "
            + "\(Format.percent(profile.stepsShare)) of a prediction of "
            + "\(Format.duration(profile.predictionSeconds))"
    }

    /// What the memory measurements include.
    var memoryText: String {
        guard let memory else { return "not measured: the system does not let the peak be reset" }
        return "\(Format.bytes(memory.peakBytes)) at the peak, of which "
            + "\(Format.bytes(memory.baseBytes)) were resident before the model was loaded; the "
            + "compiled program has \(Format.bytes(memory.weightBytes)) of weights and "
            + "\(Format.bytes(memory.intermediateBytes)) of intermediate results"
    }

    /// The steps that take the most time.
    func slowestSteps(_ count: Int) -> [BenchmarkReport.Step] {
        Array(profile.steps.sorted { $0.seconds > $1.seconds }.prefix(count))
    }
}

extension PerformanceReport.LiveSource {
    /// 30, 29.97.
    var fpsText: String {
        fps == fps.rounded() ? Format.fixed(fps, 0) : Format.fixed(fps, 2)
    }
}

extension PerformanceReport.Figure {
    /// The value for a model as text.
    func text(_ model: PerformanceReport.ModelPerformance) -> String {
        guard let value = value(model) else { return "not measured" }
        return switch unit {
        case .count: Format.grouped(Int(value))
        case .bytes: Format.bytes(Int(value))
        case .seconds: Format.duration(value)
        case .perSecond: Format.fixed(value, 1)
        case .share: Format.percent(value)
        }
    }

    /// The cells of a table row: the name, the values, and the ratio if there are two models.
    func cells(_ report: PerformanceReport) -> [String] {
        let ratio = report.against.map { other in
            self.ratio(of: other, to: report.model).map { Format.ratio($0) } ?? ""
        }
        return [label] + report.models.map(text) + (ratio.map { [$0] } ?? [])
    }
}

extension Format {
    /// Three digits: 0.0123, 1.23, 12.3, 123.
    static func ratio(_ value: Double) -> String {
        value < 0.1 ? significant(value) : fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0)
    }
}

import RetintVideo

/// A measurement by which models are compared.
package struct PerformanceFigure: Sendable {
    /// The unit of a measurement.
    package enum Unit: Sendable {
        case count, bytes, seconds, perSecond
        /// A fraction, 0…1.
        case share
    }

    /// The measurement's name in ``PerformanceReport/ratios``.
    package let key: String
    /// The measurement's name for people.
    package let label: String
    /// The unit.
    package let unit: Unit
    /// The value for a model; nil if it was not measured.
    package let value: @Sendable (ModelPerformance) -> Double?

    private init(
        _ key: String, _ label: String, _ unit: Unit,
        _ value: @escaping @Sendable (ModelPerformance) -> Double?
    ) {
        (self.key, self.label, self.unit, self.value) = (key, label, unit, value)
    }

    /// The other model's value divided by the model's; nil if one is not measured or zero.
    package func ratio(of other: ModelPerformance, to model: ModelPerformance) -> Double? {
        guard let own = value(model), let others = value(other) else { return nil }
        return own != 0 && others != 0 ? others / own : nil
    }

    /// The ratios of all measurements that both models have, by key.
    static func ratios(
        of other: ModelPerformance, to model: ModelPerformance
    ) -> [String: Double] {
        sections.flatMap(\.figures).reduce(into: [:]) { ratios, figure in
            ratios[figure.key] = figure.ratio(of: other, to: model)
        }
    }

    /// All measurements, by subject; without subjects that no model has measurements of.
    package static func sections(
        of models: [ModelPerformance]
    ) -> [(title: String, figures: [PerformanceFigure])] {
        sections.filter { section in
            section.figures.contains { figure in models.contains { figure.value($0) != nil } }
        }
    }

    private static let sections: [(title: String, figures: [PerformanceFigure])] = [
        ("Size", size), ("Start", startup), ("Predictions, one after the other", prediction),
        ("Live source", live), ("Film", film), ("Memory", memory),
    ]
}

extension PerformanceFigure {
    private static let size = [
        PerformanceFigure("file_bytes", "file", .bytes) { Double($0.fileBytes) },
        PerformanceFigure("parameters", "parameters", .count) { Double($0.parameters) },
        PerformanceFigure("multiply_adds", "multiply-adds", .count) { Double($0.multiplyAdds) },
        PerformanceFigure("operations", "operations", .count) {
            $0.operations.map(Double.init)
        },
        PerformanceFigure("steps", "steps of the compiled program", .count) {
            Double($0.profile.steps.count)
        },
    ]

    private static let startup =
        startup("cold", "cold page cache") { $0.cold }
        + startup("warm", "warm page cache") { $0.warm }

    private static func startup(
        _ key: String, _ label: String, _ times: @escaping @Sendable (Startup) -> Startup.Times?
    ) -> [PerformanceFigure] {
        [
            PerformanceFigure("\(key)_load_seconds", "load, \(label)", .seconds) {
                times($0.startup)?.loadSeconds
            },
            PerformanceFigure("\(key)_compile_seconds", "compilation, \(label)", .seconds) {
                times($0.startup)?.compileSeconds
            },
            PerformanceFigure(
                "\(key)_first_prediction_seconds", "first prediction, \(label)", .seconds
            ) { times($0.startup)?.firstPredictionSeconds },
            PerformanceFigure("\(key)_total_seconds", "all of these, \(label)", .seconds) {
                times($0.startup)?.totalSeconds
            },
        ]
    }

    private static let prediction = [
        PerformanceFigure("median_seconds", "median", .seconds) { $0.prediction.medianSeconds },
        PerformanceFigure("p95_seconds", "95th percentile", .seconds) { $0.prediction.p95Seconds },
        PerformanceFigure("p99_seconds", "99th percentile", .seconds) { $0.prediction.p99Seconds },
        PerformanceFigure("minimum_seconds", "minimum", .seconds) {
            $0.prediction.minimumSeconds
        },
        PerformanceFigure("maximum_seconds", "maximum", .seconds) {
            $0.prediction.maximumSeconds
        },
        PerformanceFigure("predictions_per_second", "predictions a second", .perSecond) {
            $0.predictionsPerSecond
        },
    ]

    private static let live = [
        PerformanceFigure("in_time_share", "frames colored in time", .share) {
            $0.live.inTimeShare
        },
        PerformanceFigure("dropped_share", "frames dropped", .share) {
            Double($0.live.dropped) / Double($0.live.frames)
        },
        PerformanceFigure("colored_per_second", "frames colored a second", .perSecond) {
            $0.live.coloredPerSecond
        },
        PerformanceFigure("latency_median_seconds", "latency, median", .seconds) {
            $0.live.latency.medianSeconds
        },
        PerformanceFigure("latency_p99_seconds", "latency, 99th percentile", .seconds) {
            $0.live.latency.p99Seconds
        },
    ]

    private static let film =
        [
            PerformanceFigure("film_frames_per_second", "frames colored a second", .perSecond) {
                $0.film?.framesPerSecond
            },
            PerformanceFigure("film_peak_bytes", "peak of the process", .bytes) {
                ($0.film?.peakBytes).map(Double.init)
            },
        ]
        + FilmStage.allCases.map { stage in
            PerformanceFigure("film_\(stage.rawValue)_share", "time for \(stage.rawValue)", .share)
            {
                $0.film?.shares[stage]
            }
        }

    private static let memory = [
        PerformanceFigure("peak_bytes", "peak of the process", .bytes) {
            ($0.memory?.peakBytes).map(Double.init)
        },
        PerformanceFigure("added_bytes", "of it added by the model", .bytes) {
            ($0.memory?.addedBytes).map(Double.init)
        },
    ]
}

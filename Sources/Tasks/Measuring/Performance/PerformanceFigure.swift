import RetintVideo

extension PerformanceReport {
    /// A measurement by which models are compared.
    public struct Figure: Sendable {
        /// The unit of a measurement.
        public enum Unit: Sendable {
            /// A number of things.
            case count
            /// Bytes.
            case bytes
            /// Seconds.
            case seconds
            /// A number in each second.
            case perSecond
            /// A fraction, 0…1.
            case share
        }

        /// The measurement's name in ``PerformanceReport/ratios``.
        package let key: String
        /// The measurement's name for people.
        public let label: String
        /// The unit.
        public let unit: Unit
        /// The value for a model; nil if it was not measured.
        public let value: @Sendable (PerformanceReport.ModelPerformance) -> Double?

        private init(
            _ key: String, _ label: String, _ unit: Unit,
            _ value: @escaping @Sendable (PerformanceReport.ModelPerformance) -> Double?
        ) {
            (self.key, self.label, self.unit, self.value) = (key, label, unit, value)
        }

        /// The other model's value divided by the model's; nil if one is not measured or zero.
        public func ratio(
            of other: PerformanceReport.ModelPerformance,
            to model: PerformanceReport.ModelPerformance
        ) -> Double? {
            guard let own = value(model), let others = value(other) else { return nil }
            return own != 0 && others != 0 ? others / own : nil
        }

        /// The ratios of all measurements that both models have, by key.
        static func ratios(
            of other: PerformanceReport.ModelPerformance,
            to model: PerformanceReport.ModelPerformance
        ) -> [String: Double] {
            sections.flatMap(\.figures).reduce(into: [:]) { ratios, figure in
                ratios[figure.key] = figure.ratio(of: other, to: model)
            }
        }

        /// All measurements, by subject; without subjects that no model has measurements of.
        public static func sections(
            of models: [PerformanceReport.ModelPerformance]
        ) -> [(title: String, figures: [PerformanceReport.Figure])] {
            sections.filter { section in
                section.figures.contains { figure in models.contains { figure.value($0) != nil } }
            }
        }

        private static let sections: [(title: String, figures: [PerformanceReport.Figure])] = [
            ("Size", size), ("Start", startup), ("Predictions, one after the other", prediction),
            ("Live source", live), ("Video", video), ("Memory", memory),
        ]
    }
}

extension PerformanceReport.Figure {
    private static let size = [
        PerformanceReport.Figure("file_bytes", "file", .bytes) { Double($0.fileBytes) },
        PerformanceReport.Figure("parameters", "parameters", .count) { Double($0.parameters) },
        PerformanceReport.Figure("multiply_adds", "multiply-adds", .count) {
            Double($0.multiplyAdds)
        },
        PerformanceReport.Figure("operations", "operations", .count) {
            $0.operations.map(Double.init)
        },
        PerformanceReport.Figure("steps", "steps of the compiled program", .count) {
            Double($0.profile.steps.count)
        },
    ]

    private static let startup =
        startup("cold", "cold page cache") { $0.cold }
        + startup("warm", "warm page cache") { $0.warm }

    private static func startup(
        _ key: String, _ label: String,
        _ times: @escaping @Sendable (PerformanceReport.Startup) -> PerformanceReport.Startup.Times?
    ) -> [PerformanceReport.Figure] {
        [
            PerformanceReport.Figure("\(key)_load_seconds", "load, \(label)", .seconds) {
                times($0.startup)?.loadSeconds
            },
            PerformanceReport.Figure("\(key)_compile_seconds", "compilation, \(label)", .seconds) {
                times($0.startup)?.compileSeconds
            },
            PerformanceReport.Figure(
                "\(key)_first_prediction_seconds", "first prediction, \(label)", .seconds
            ) { times($0.startup)?.firstPredictionSeconds },
            PerformanceReport.Figure("\(key)_total_seconds", "all of these, \(label)", .seconds) {
                times($0.startup)?.totalSeconds
            },
        ]
    }

    private static let prediction = [
        PerformanceReport.Figure("median_seconds", "median", .seconds) {
            $0.prediction.medianSeconds
        },
        PerformanceReport.Figure("p95_seconds", "95th percentile", .seconds) {
            $0.prediction.p95Seconds
        },
        PerformanceReport.Figure("p99_seconds", "99th percentile", .seconds) {
            $0.prediction.p99Seconds
        },
        PerformanceReport.Figure("minimum_seconds", "minimum", .seconds) {
            $0.prediction.minimumSeconds
        },
        PerformanceReport.Figure("maximum_seconds", "maximum", .seconds) {
            $0.prediction.maximumSeconds
        },
        PerformanceReport.Figure("predictions_per_second", "predictions per second", .perSecond) {
            $0.predictionsPerSecond
        },
    ]

    private static let live = [
        PerformanceReport.Figure("in_time_share", "frames colored in time", .share) {
            $0.live.inTimeShare
        },
        PerformanceReport.Figure("dropped_share", "frames dropped", .share) {
            Double($0.live.dropped) / Double($0.live.frames)
        },
        PerformanceReport.Figure("colored_per_second", "frames colored per second", .perSecond) {
            $0.live.coloredPerSecond
        },
        PerformanceReport.Figure("latency_median_seconds", "latency, median", .seconds) {
            $0.live.latency.medianSeconds
        },
        PerformanceReport.Figure("latency_p99_seconds", "latency, 99th percentile", .seconds) {
            $0.live.latency.p99Seconds
        },
    ]

    private static let video =
        [
            PerformanceReport.Figure(
                "video_frames_per_second", "frames colored per second", .perSecond
            ) {
                $0.video?.framesPerSecond
            },
            PerformanceReport.Figure("video_peak_bytes", "peak of the process", .bytes) {
                ($0.video?.peakBytes).map(Double.init)
            },
        ]
        + ColoredVideo.Stage.allCases.map { stage in
            PerformanceReport.Figure(
                "video_\(stage.rawValue)_share", "time for \(stage.rawValue)", .share
            ) {
                $0.video?.shares[stage]
            }
        }

    private static let memory = [
        PerformanceReport.Figure("peak_bytes", "peak of the process", .bytes) {
            ($0.memory?.peakBytes).map(Double.init)
        },
        PerformanceReport.Figure("added_bytes", "added by the model", .bytes) {
            ($0.memory?.addedBytes).map(Double.init)
        },
    ]
}

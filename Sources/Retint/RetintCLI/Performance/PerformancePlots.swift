import Retint

/// The plots of a performance report.
enum PerformancePlots {
    /// The largest number of points in a curve; more would not be visible.
    private static let maximumPoints = 400

    /// The distribution of the durations with the deadline, and the durations in their order.
    static func html(_ report: PerformanceReport) -> (distribution: String, sequence: String) {
        let models = Array(zip(report.shortNames, report.models.map(\.predictionSeconds)))
        let live = report.model.live
        let deadline = live.deadlineSeconds * 1e3
        let distribution = LinePlot(
            "share of the predictions that took at most this long, in %",
            xLabel: "duration of a prediction in ms",
            models.map { .init($0, Self.distribution(of: $1)) },
            marker: (deadline, "\(Format.fixed(deadline, 1)) ms: \(live.fpsText) fps"),
            isLogarithmic: (true, false))
        let sequence = LinePlot(
            "duration in ms, in the order of the predictions",
            xLabel: "seconds of predicting",
            models.map { .init($0, Self.sequence(of: $1)) },
            isLogarithmic: (false, true))
        return (distribution.html, sequence.html)
    }

    /// Milliseconds, and the share of durations up to them in percent.
    static func distribution(of seconds: [Double]) -> [(x: Double, y: Double)] {
        let sorted = seconds.sorted()
        guard let first = sorted.first else { return [] }
        let count = min(sorted.count, maximumPoints)
        let points = (1...count).map { point in
            let rank = point * sorted.count / count
            return (x: 1e3 * sorted[rank - 1], y: 100 * Double(rank) / Double(sorted.count))
        }
        return [(1e3 * first, 0)] + points
    }

    /// The seconds at which a prediction began, and its milliseconds. Of several neighbors, only
    /// the shortest and the longest are plotted.
    static func sequence(of seconds: [Double]) -> [(x: Double, y: Double)] {
        var start = 0.0
        let points = seconds.map { duration in
            defer { start += duration }
            return (x: start, y: 1e3 * duration)
        }
        let group = max(2 * points.count / maximumPoints, 1)
        guard group > 2 else { return points }
        return stride(from: 0, to: points.count, by: group).flatMap { first in
            let own = points[first..<min(first + group, points.count)]
            let ends = [own.min { $0.y < $1.y }, own.max { $0.y < $1.y }].compactMap { $0 }
            return ends.sorted { $0.x < $1.x }
        }
    }
}

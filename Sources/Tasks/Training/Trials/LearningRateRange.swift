import Glibc
public import RetintFiles
import RetintPages

/// Losses at learning rates that rise from step to step: below the rate with the lowest loss are
/// good ones to train with (Smith, "Cyclical Learning Rates for Training Neural Networks", 2017).
public struct LearningRateRange: Hashable, Sendable {
    /// The loss at one rate.
    public struct Point: Hashable, Sendable {
        /// The learning rate of the step.
        public let rate: Double
        /// The loss, smoothed over steps as in fastai.
        public let loss: Double
    }

    /// One point per step, at rising rates; the last one may be where the training diverged.
    public private(set) var points: [Point] = []
    private var average = 0.0
    private static let smoothing = 0.9
    /// The test ends when the loss is this many times the lowest.
    private static let divergence = 4.0

    /// Adds the loss of a step.
    ///
    /// - Returns: false once the training has diverged.
    mutating func add(rate: Double, loss: Double) -> Bool {
        guard loss.isFinite else { return false }
        average = Self.smoothing * average + (1 - Self.smoothing) * loss
        let smoothed = average / (1 - pow(Self.smoothing, Double(points.count + 1)))
        points.append(Point(rate: rate, loss: smoothed))
        let lowest = points.map(\.loss).min() ?? smoothed
        return smoothed <= Self.divergence * lowest
    }

    /// A tenth of the rate with the lowest smoothed loss, fastai's `lr_min`; nil without points.
    public var tenthOfLowestRate: Double? {
        points.min { $0.loss < $1.loss }.map { $0.rate / 10 }
    }

    /// Writes the curve as an HTML page, replacing an existing file.
    ///
    /// - Throws: `FileError` if it cannot be written.
    public func writePage(to path: some PathConvertible) throws {
        let curve = LinePlot.Series("loss", points.map { ($0.rate, $0.loss) })
        let plot = LinePlot(
            "loss against learning rate", xLabel: "learning rate", [curve],
            isLogarithmic: (true, true))
        try createFolder(path.filePath.removingLastComponent())
        try HTMLPage(title: "learning-rate range test", body: [plot.html])
            .write(to: path.filePath.string)
    }
}

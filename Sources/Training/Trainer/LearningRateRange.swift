import Glibc

/// Losses under a learning rate that rises from step to step: where the loss falls fastest is a
/// good rate to train with (Smith, "Cyclical Learning Rates for Training Neural Networks", 2017).
package struct LearningRateRange: Sendable {
    package struct Point: Hashable, Sendable {
        package let rate: Double
        /// Smoothed over steps, as `fastai` does it.
        package let loss: Double
    }

    package private(set) var points: [Point] = []
    private var average = 0.0
    private static let smoothing = 0.9
    /// The test ends where the loss is so many times the lowest.
    private static let divergence = 4.0

    package init() {}

    /// Adds the loss of a step.
    ///
    /// - Returns: false once the training has diverged.
    package mutating func add(rate: Double, loss: Double) -> Bool {
        guard loss.isFinite else { return false }
        average = Self.smoothing * average + (1 - Self.smoothing) * loss
        let smoothed = average / (1 - pow(Self.smoothing, Double(points.count + 1)))
        points.append(Point(rate: rate, loss: smoothed))
        let lowest = points.map(\.loss).min() ?? smoothed
        return smoothed <= Self.divergence * lowest
    }

    /// The rate at which the smoothed loss falls fastest; nil where it never falls.
    package var steepest: Double? {
        // Where the loss is lowest the fall is over; the first steps say more of the smoothing.
        let lowest = points.indices.min { points[$0].loss < points[$1].loss } ?? 0
        let slopes = points.indices.dropFirst(5).filter { $0 <= lowest }.map { place in
            let (one, other) = (points[place - 1], points[place])
            return (other.rate, (other.loss - one.loss) / (log(other.rate) - log(one.rate)))
        }
        return slopes.min { $0.1 < $1.1 }.flatMap { $0.1 < 0 ? $0.0 : nil }
    }

    /// A tenth of the rate at which the loss is lowest.
    package var tenthOfLowest: Double? {
        points.min { $0.loss < $1.loss }.map { $0.rate / 10 }
    }
}

extension Trainer {
    /// Takes steps at rates that rise evenly on a logarithmic scale; nothing is saved, and the
    /// weights are not to be used afterwards.
    ///
    /// - Parameter shouldStop: asked before each step.
    package func learningRateRange(
        from first: Double = 1e-7, to last: Double = 1, steps: Int = 100,
        shouldStop: () -> Bool = { false }
    ) throws -> LearningRateRange {
        var range = LearningRateRange()
        for number in 0..<steps where !shouldStop() {
            let share = Double(number) / Double(max(steps - 1, 1))
            let rate = first * pow(last / first, share)
            let loss = try trial(step: number, rate: rate)
            guard range.add(rate: rate, loss: loss) else { break }
        }
        return range
    }
}

/// Times runs of a closure.
///
/// - Parameters:
///   - runs: the smallest number of timed runs.
///   - duration: more runs follow until this time has passed.
///   - warmup: the number of untimed runs before them.
/// - Returns: the seconds of each run.
package func measureSeconds(
    runs: Int, for duration: Duration = .zero, warmup: Int, _ run: () throws -> Void
) rethrows -> [Double] {
    for _ in 0..<warmup { try run() }
    let clock = ContinuousClock()
    let start = clock.now
    var seconds: [Double] = []
    while seconds.count < runs || clock.now - start < duration {
        seconds.append(try clock.measure(run) / .seconds(1))
    }
    return seconds
}

extension Collection<Double> {
    /// The median, which is the mean of the two middle values of an even number; NaN if there are
    /// no values.
    package var median: Double { percentile(0.5) }

    /// The value below which a share of the values lies, linear between neighbors as in NumPy; NaN
    /// if there are no values.
    ///
    /// - Parameter share: 0…1, 0.95 for the 95th percentile.
    package func percentile(_ share: Double) -> Double {
        if isEmpty { return .nan }
        let sorted = sorted()
        let position = share * Double(count - 1)
        let (below, above) = (Int(position), Swift.min(Int(position) + 1, count - 1))
        let weight = position - Double(below)
        // With a weight of 0 the neighbor does not count, even if it is infinite.
        return weight == 0
            ? sorted[below] : sorted[below] * (1 - weight) + sorted[above] * weight
    }
}

/// Times runs of a closure.
///
/// - Parameters:
///   - runs: the least number of timed runs.
///   - duration: more runs follow until this time has passed.
///   - warmup: runs before them that are not timed.
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
    package var median: Double {
        if isEmpty { return .nan }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}

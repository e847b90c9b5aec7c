import RetintEngine

extension PerformanceReport {
    /// The distribution of several durations, in seconds.
    ///
    /// Percentiles are interpolated linearly, like NumPy's default. With fewer than 100 durations,
    /// the 99th percentile is little more than the longest.
    public struct DurationSummary: Hashable, Sendable, Encodable {
        /// The number of durations.
        public let count: Int
        /// The 50th percentile.
        public let medianSeconds: Double
        /// The 95th percentile.
        public let p95Seconds: Double
        /// The 99th percentile.
        public let p99Seconds: Double
        /// The shortest.
        public let minimumSeconds: Double
        /// The longest.
        public let maximumSeconds: Double

        /// Summarizes durations; NaN if there are none.
        public init(_ seconds: [Double]) {
            count = seconds.count
            medianSeconds = seconds.median
            p95Seconds = seconds.percentile(0.95)
            p99Seconds = seconds.percentile(0.99)
            minimumSeconds = seconds.min() ?? .nan
            maximumSeconds = seconds.max() ?? .nan
        }
    }
}

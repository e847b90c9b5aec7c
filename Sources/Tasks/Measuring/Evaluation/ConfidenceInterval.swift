import RetintEngine
import RetintLayers
import RetintTensors

extension EvaluationReport {
    /// The 95 % bootstrap confidence intervals of all metrics.
    public struct ConfidenceInterval: Hashable, Sendable, Codable {
        /// The lower bound of each metric.
        public let low: EvaluationReport.ColorQuality
        /// The upper bound of each metric.
        public let high: EvaluationReport.ColorQuality

        /// Computes the percentile bootstrap (Efron, "Bootstrap Methods", 1979): resamples the
        /// images with replacement and takes the 2.5th and the 97.5th percentile of the results.
        ///
        /// The results are shifted so that their mean is the quality of all images: resamples lack
        /// colors that few images have, which biases the rebalanced AuC. The same images always
        /// give the same intervals.
        ///
        /// - Returns: nil for fewer than two images.
        init?(_ images: [ImageQuality], resamples: Int = 1000) {
            guard images.count > 1, let quality = EvaluationReport.ColorQuality(images) else {
                return nil
            }
            var random = RandomStream(seed: 0, name: "confidence interval")
            let qualities = (0..<resamples).compactMap { _ in
                EvaluationReport.ColorQuality(
                    images.indices.map { _ in images[Int(random.next() % UInt64(images.count))] })
            }
            low = Self.bound(qualities, 0.025, around: quality)
            high = Self.bound(qualities, 0.975, around: quality)
        }

        private static func bound(
            _ qualities: [EvaluationReport.ColorQuality], _ fraction: Double,
            around quality: EvaluationReport.ColorQuality
        ) -> EvaluationReport.ColorQuality {
            var bound = EvaluationReport.ColorQuality()
            for path in EvaluationReport.ColorQuality.means + [\.abAucRebalanced] {
                bound[keyPath: path] = percentile(
                    qualities.map { $0[keyPath: path] }, fraction, around: quality[keyPath: path])
            }
            for path in EvaluationReport.ColorQuality.optionalMeans
                + EvaluationReport.ColorQuality.pooled
            {
                bound[keyPath: path] = quality[keyPath: path].map {
                    percentile(qualities.compactMap { $0[keyPath: path] }, fraction, around: $0)
                }
            }
            return bound
        }

        /// The percentile of values shifted so that their mean is `center`.
        private static func percentile(
            _ values: [Double], _ fraction: Double, around center: Double
        ) -> Double {
            let mean = values.reduce(0, +) / Double(values.count)
            return values.map { $0 - mean + center }.percentile(fraction)
        }
    }
}

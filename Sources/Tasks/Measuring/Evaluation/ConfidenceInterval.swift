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
        /// Those of the rebalanced AuC are shifted so that their mean is that of all images,
        /// because resamples lack colors that few images have. The same images always give the
        /// same intervals.
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
            for path in EvaluationReport.ColorQuality.means {
                bound[keyPath: path] = qualities.map { $0[keyPath: path] }.percentile(fraction)
            }
            for path in EvaluationReport.ColorQuality.optionalMeans
                + EvaluationReport.ColorQuality.pooled
            {
                guard quality[keyPath: path] != nil else { continue }
                bound[keyPath: path] =
                    qualities.compactMap { $0[keyPath: path] }.percentile(fraction)
            }
            let areas = qualities.map(\.abAucRebalanced)
            let mean = areas.reduce(0, +) / Double(areas.count)
            bound.abAucRebalanced = areas.percentile(fraction) - mean + quality.abAucRebalanced
            return bound
        }
    }
}

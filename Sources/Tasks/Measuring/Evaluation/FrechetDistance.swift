import RetintEngine

/// The Fréchet distance between the normal distributions that fit two sets of features: |μ₁ − μ₂|²
/// + tr(Σ₁ + Σ₂ − 2·√(Σ₁·Σ₂)), which is 0 for equal sets (Heusel et al., "GANs Trained by a Two
/// Time-Scale Update Rule", 2017).
///
/// The covariances Σ are divided by the number of vectors minus 1. Fewer vectors give larger
/// distances, so that only sets of the same size are comparable. With features of a network other
/// than Inception, this is not the FID of papers.
///
/// - Parameters:
///   - first: vectors of features, at least two.
///   - second: vectors with as many elements, at least two.
/// - Returns: nil if there are too few vectors, their lengths differ or elements are not finite.
package func frechetDistance(_ first: [[Double]], _ second: [[Double]]) -> Double? {
    FeatureDistribution(first)?.distance(to: second)
}

/// The normal distribution that fits features.
struct FeatureDistribution {
    private let mean: [Double]
    private let covariance, root: CovarianceMatrix

    /// - Returns: nil for fewer than two vectors, different lengths, or values that are not finite.
    init?(_ samples: [[Double]]) {
        guard let moments = Moments(samples), let root = moments.covariance.squareRoot else {
            return nil
        }
        (mean, covariance, self.root) = (moments.mean, moments.covariance, root)
    }

    /// The Fréchet distance to the distribution that fits other features.
    func distance(to samples: [[Double]]) -> Double? {
        guard let other = Moments(samples), other.mean.count == mean.count,
            let common = root.traceOfRoot(ofSquareTimes: other.covariance)
        else { return nil }
        let shift = zip(mean, other.mean).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
        // Rounding can make the distance of equal features slightly negative.
        return max(shift + covariance.trace + other.covariance.trace - 2 * common, 0)
    }

    private struct Moments {
        let mean: [Double]
        let covariance: CovarianceMatrix

        init?(_ samples: [[Double]]) {
            guard samples.count > 1, !samples[0].isEmpty,
                samples.allSatisfy({
                    $0.count == samples[0].count && $0.allSatisfy(\.isFinite)
                })
            else { return nil }
            mean = samples[0].indices.map { element in
                samples.reduce(0) { $0 + $1[element] } / Double(samples.count)
            }
            covariance = CovarianceMatrix(of: samples, mean: mean)
        }
    }
}

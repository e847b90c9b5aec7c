import TensorGraph

/// One output compared.
package struct OutputComparison: Hashable, Sendable {
    package let name: String
    package let shape: [Int]
    package let metrics: ErrorMetrics
    /// What PSNR is relative to: 220 for ab, else the span of the expected numbers.
    package let peak: Double
    package let nonFinite: NonFinite?
    /// The bounds that are not held, in words; empty if the output passes.
    package let failures: [String]

    init(_ pair: OutputPair, peak: Double?, tolerance: Tolerance) {
        name = pair.name
        shape = pair.expected.shape.dimensions
        self.peak = peak ?? Self.span(pair.expected.scalars)
        let (computed, expected) = (pair.computed.scalars, pair.expected.scalars)
        metrics = ErrorMetrics(computed: computed, expected: expected, peak: self.peak)
        nonFinite = NonFinite(in: pair.computed)
        guard nonFinite == nil else {
            failures = nonFinite.map { [$0.text] } ?? []
            return
        }
        let count = tolerance.violations(computed: computed, expected: expected)
        failures = Self.failures(metrics, count, tolerance)
    }

    private static func span(_ values: [Float]) -> Double {
        let span = Double(values.max() ?? 0) - Double(values.min() ?? 0)
        return span > 0 ? span : 1
    }

    private static func failures(
        _ metrics: ErrorMetrics, _ violations: Int, _ tolerance: Tolerance
    ) -> [String] {
        var failures: [String] = []
        if violations > 0 {
            failures.append("\(violations) numbers are farther off than they may be")
        }
        if let bound = tolerance.meanAbs, !(metrics.meanAbs <= bound) {
            failures.append("the mean |error| \(metrics.meanAbs) is above \(bound)")
        }
        if let bound = tolerance.minPSNR, !(metrics.psnr >= bound) {
            failures.append("the PSNR \(metrics.psnr) dB is below \(bound) dB")
        }
        return failures
    }
}

extension OutputComparison: Encodable {
    private enum CodingKeys: String, CodingKey {
        case shape, maxAbsError, meanAbsError, maxRelativeError, psnrDb, snrDb, cosine, peak
        case nonFinite, failures
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(shape, forKey: .shape)
        try container.encode(metrics.maxAbs, forKey: .maxAbsError)
        try container.encode(metrics.meanAbs, forKey: .meanAbsError)
        try container.encode(metrics.maxRelative, forKey: .maxRelativeError)
        try container.encode(metrics.psnr, forKey: .psnrDb)
        try container.encode(metrics.snr, forKey: .snrDb)
        try container.encode(metrics.cosine, forKey: .cosine)
        try container.encode(peak, forKey: .peak)
        try container.encodeIfPresent(nonFinite, forKey: .nonFinite)
        try container.encode(failures, forKey: .failures)
    }
}

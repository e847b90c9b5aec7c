import RetintColor
import RetintFiles
import RetintGraph
import RetintRuntime
import RetintTensors

extension VerificationReport {
    /// The comparison of one output over all runs.
    public struct Output: Hashable, Sendable {
        /// The output's name in the reference.
        public let name: String
        /// The shape over all runs: the first dimension counts all images.
        public let shape: [Int]
        /// The error of the output's values.
        public let metrics: VerificationReport.ErrorMetrics
        /// The peak of the PSNR: 220 for a and b, otherwise the range of the expected values.
        public let peak: Double
        /// The largest |e|; nil in results that older versions saved.
        public let largest: Double?
        /// The output's NaN and infinite values; nil if all are finite.
        public let nonFinite: NonFinite?
        /// The error of the reference network's own run in half precision; nil if it was not
        /// measured.
        public let half: VerificationReport.ErrorMetrics?
        /// The error of the reference network's run in float32 against one in float64; nil if it
        /// was not measured.
        public let rounding: VerificationReport.ErrorMetrics?
        /// The SHA-256 digest of the model's values in all runs, as little-endian float32, in 64
        /// hexadecimal digits; nil in results that older versions saved.
        public let sha256: String?
        /// What makes the expected values of these ones, if they differ in their unit alone.
        let unitChange: UnitChange?
        /// The order of the expected channels in all runs, if it is another one.
        let channelOrder: ChannelOrder?
        /// The values that decide a bound on each value.
        let frontier: ErrorFrontier
        /// The bounds on this output. For an output with NaN or infinity, only that is checked.
        public private(set) var checks: [VerificationCheck] = []

        /// A sentence for each violated bound; empty if the output passes.
        public var failures: [String] { checks.compactMap(\.failure) }

        init(
            name: String, shape: [Int], metrics: VerificationReport.ErrorMetrics, peak: Double,
            largest: Double?, nonFinite: NonFinite?,
            half: VerificationReport.ErrorMetrics? = nil,
            rounding: VerificationReport.ErrorMetrics? = nil, sha256: String?,
            unitChange: UnitChange?, channelOrder: ChannelOrder? = nil,
            frontier: ErrorFrontier, tolerance: Tolerance
        ) {
            self.name = name
            self.shape = shape
            self.metrics = metrics
            self.peak = peak
            self.largest = largest
            self.nonFinite = nonFinite
            self.half = half
            self.rounding = rounding
            self.sha256 = sha256
            self.unitChange = unitChange
            self.channelOrder = channelOrder
            self.frontier = frontier
            checks = checks(tolerance)
        }

        /// The same measurements, checked against other bounds.
        func judged(by tolerance: Tolerance) -> VerificationReport.Output {
            var result = self
            result.checks = checks(tolerance)
            return result
        }
    }
}

extension VerificationReport.Output {
    /// The root mean square error, as a multiple of what half precision loses, see
    /// ``Tolerance/maxHalfRatio``; nil if that was not measured, NaN if either run produces NaN or
    /// infinity.
    public var halfRatio: Double? { half.map { metrics.rootMeanSquareRatio(to: $0) } }

    /// The root mean square error, as a multiple of what float32 loses, see
    /// ``Tolerance/maxRoundingRatio``; nil if that was not measured.
    public var roundingRatio: Double? {
        rounding.map { metrics.roundingRatio(to: $0) }
    }

    private func checks(_ tolerance: Tolerance) -> [VerificationCheck] {
        func check(_ rule: VerificationRule, _ failure: String?) -> VerificationCheck {
            let cause = (channelOrder?.text ?? unitChange?.text).map { "; \($0)" } ?? ""
            return VerificationCheck(rule, name, failure.map { $0 + cause })
        }
        let finite = check(.finite, nonFinite?.text)
        guard nonFinite == nil else { return [finite] }
        var checks = [finite]
        if tolerance.boundsEachValue {
            checks.append(check(.eachValue, valueFailure(tolerance.atol ?? 0, tolerance.rtol ?? 0)))
        }
        let ratio = tolerance.maxRoundingRatio.flatMap { _ in roundingRatio }
        // How much float32 loses in this network says more than a share that suits most networks.
        if let bound = tolerance.maxRelative, ratio == nil {
            checks.append(check(.maxRelative, relativeFailure(bound)))
        }
        if let bound = tolerance.meanAbs {
            checks.append(
                check(.meanAbs, failure("the mean |error|", metrics.meanAbs, above: bound)))
        }
        if let bound = tolerance.minPSNR {
            checks.append(check(.psnr, failure("the PSNR", metrics.psnr, below: bound)))
        }
        if let bound = tolerance.minSNR {
            checks.append(check(.snr, failure("the SNR", metrics.snr, below: bound)))
        }
        if let bound = tolerance.maxHalfRatio, !tolerance.supplementsByHalf || isHalfRatioKnown {
            checks.append(check(.halfRatio, halfFailure(bound)))
        }
        if let bound = tolerance.maxRoundingRatio {
            if let ratio {
                checks.append(check(.roundingRatio, roundingFailure(ratio, above: bound)))
            } else if peak == LabPlanes.abSpan, !tolerance.boundsEachValue {
                // Where it was not measured, colors have the bound that they had before.
                checks.append(check(.eachValue, valueFailure(1e-4, 1e-5)))
            }
        }
        return checks
    }

    /// Whether there is an error of half precision to compare with: values that are exact in half
    /// precision, such as indices, say nothing about those that are not.
    private var isHalfRatioKnown: Bool { half.map { $0.snr.isFinite } ?? false }

    /// The largest |c − e| relative to the largest |e|; nil if the latter is not known.
    public var maxRelativeToLargest: Double? {
        largest.map { metrics.maxAbs == 0 ? 0 : metrics.maxAbs / $0 }
    }

    private func relativeFailure(_ bound: Double) -> String? {
        guard let error = maxRelativeToLargest else {
            return "the largest expected value was not saved; verify again"
        }
        return failure("max |error| / max |expected|", error, above: bound)
    }

    private func halfFailure(_ bound: Double) -> String? {
        guard let halfRatio else {
            return "the reference network was not run in half precision; verify again with "
                + "--bound half"
        }
        guard !halfRatio.isNaN else {
            return "the reference network itself produces NaN or infinity in half precision, so "
                + "there is no error to compare with; use other bounds"
        }
        return failure(
            "the error, as a multiple of that of half precision alone,",
            halfRatio, above: bound)
    }

    private func valueFailure(_ atol: Double, _ rtol: Double) -> String? {
        guard metrics.maxAbs.isFinite else { return "the errors are not finite" }
        guard let value = frontier.farthest(outside: atol, rtol) else { return nil }
        let bound = atol + rtol * value.expected
        return "a value is farther off than the tolerance allows: |error| "
            + "\(figure(value.error, bound)) instead of \(figure(bound, value.error)), where "
            + "|expected| is \(figure(value.expected, 0))"
    }
}

extension VerificationReport.Output: Codable {
    private enum CodingKeys: String, CodingKey {
        case name, shape, metrics, peak, largest, nonFinite, half, rounding, sha256, unitChange
        case channelOrder
        case frontier = "decidingErrors"
    }

    /// Decodes the figures; no bound is judged but that values are finite.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try container.decode(String.self, forKey: .name),
            shape: try container.decode([Int].self, forKey: .shape),
            metrics: try container.decode(VerificationReport.ErrorMetrics.self, forKey: .metrics),
            peak: try container.decode(Double.self, forKey: .peak),
            largest: try container.decodeIfPresent(Double.self, forKey: .largest),
            nonFinite: try container.decodeIfPresent(NonFinite.self, forKey: .nonFinite),
            half: try container.decodeIfPresent(
                VerificationReport.ErrorMetrics.self, forKey: .half),
            rounding: try container.decodeIfPresent(
                VerificationReport.ErrorMetrics.self, forKey: .rounding),
            sha256: try container.decodeIfPresent(String.self, forKey: .sha256),
            unitChange: try container.decodeIfPresent(UnitChange.self, forKey: .unitChange),
            channelOrder: try container.decodeIfPresent(
                ChannelOrder.self, forKey: .channelOrder),
            frontier: try container.decode(ErrorFrontier.self, forKey: .frontier),
            tolerance: Tolerance())
    }
}

/// Accumulates the comparison of an output over all runs.
struct OutputGathering {
    let name: String
    private let tolerance: Tolerance
    private let peak: Double?
    private var shape: Shape
    private let runs: Int
    private var errors: ErrorGathering
    private var nonFinite: NonFinite?
    private var minimum = Float.infinity
    private var maximum = -Float.infinity
    private var hash = ContentHash()
    /// That of the first run, as long as all have it.
    private var channelOrder: ChannelOrder?
    private var count = 0

    /// - Parameters:
    ///   - pair: the output of the first run, which still has to be added.
    ///   - peak: the peak of the PSNR; the range of the expected values if nil.
    init(_ pair: OutputPair, runs: Int, peak: Double?, tolerance: Tolerance) {
        name = pair.name
        shape = pair.expected.shape
        self.runs = runs
        self.peak = peak
        self.tolerance = tolerance
        errors = ErrorGathering(total: pair.expected.shape.count * runs)
    }

    mutating func add(_ pair: OutputPair) {
        let (computed, expected) = (pair.computed.scalars, pair.expected.scalars)
        errors.add(computed: computed, expected: expected)
        if count == 0 || channelOrder != nil {
            let order = ChannelOrder(pair.computed, pair.expected)
            channelOrder = count == 0 || order == channelOrder ? order : nil
        }
        count += 1
        hash.update(computed)
        minimum = min(minimum, expected.min() ?? minimum)
        maximum = max(maximum, expected.max() ?? maximum)
        guard let found = NonFinite(in: pair.computed) else { return }
        if nonFinite == nil { nonFinite = found } else { nonFinite?.add(found) }
    }

    /// - Parameters:
    ///   - half: the error of the reference network's own run in half precision.
    ///   - rounding: that of its run in float32 against one in float64.
    func comparison(
        half: VerificationReport.ErrorMetrics? = nil,
        rounding: VerificationReport.ErrorMetrics? = nil
    ) -> VerificationReport.Output {
        let span = Double(maximum) - Double(minimum)
        let peak = peak ?? (span > 0 ? span : 1)
        let metrics = errors.metrics(peak: peak)
        var whole = shape
        if whole.rank > 0 { whole[0] *= runs }
        return VerificationReport.Output(
            name: name, shape: whole.dimensions, metrics: metrics, peak: peak,
            largest: errors.sums.maxExpected, nonFinite: nonFinite, half: half,
            rounding: rounding, sha256: hash.digest.hexadecimal,
            unitChange: UnitChange(errors.sums), channelOrder: channelOrder,
            frontier: errors.frontier, tolerance: tolerance)
    }
}

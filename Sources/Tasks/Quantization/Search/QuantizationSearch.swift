import Foundation
import RetintDistributed
import RetintEngine
import RetintFiles
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime
import RetintTensors

/// The schemes that `MLPackage.searchQuantization` found.
public struct QuantizationSearchReport: Hashable, Sendable, Encodable {
    /// The scheme of each weight.
    public let quantization: QuantizationReport
    /// The change of the outputs on the given inputs.
    public let change: QuantizationReport.OutputChange
    /// What is known about the choice.
    public let proof: Proof
    /// What each scheme alone costs and saves, for each weight; those whose cheapest scheme costs
    /// most come first. Empty if only activations were searched.
    public var sensitivities: [Sensitivity] = []
    /// The times by a table of latencies; nil if there is none.
    public var latency: Latency?
    /// The scheme of each weight, and of activations if they were searched: those that stay floats
    /// are in ``quantization``.
    public let plan: QuantizationPlan

    private enum CodingKeys: CodingKey {
        case quantization, change, proof, sensitivities, latency
    }

    /// The times of the operations that a table of latencies names, added up.
    public struct Latency: Hashable, Sendable, Encodable {
        /// Milliseconds with the weights as they are, and with the schemes that were chosen.
        public let millisecondsBefore, millisecondsAfter: Double
    }

    /// The effect of one scheme on one weight, measured alone on some of the inputs.
    public struct Sensitivity: Hashable, Sendable, Encodable {
        /// The name of the weight.
        public let weight: String
        /// The description of the scheme, such as `int8 per-channel`; `w8a8` and the scheme of the
        /// inputs where the operation gets integers.
        public let scheme: String
        /// The size of the weight in bytes, as it is and with the scheme.
        public let bytesBefore, bytesAfter: Int
        /// The mean CIEDE2000 difference of the colors, if the search bounds that.
        public let deltaE2000: Double?
        /// The SNR of the outputs in dB, if the search bounds that; nil if nothing changes.
        public let snrDb: Double?
    }

    /// How good a choice is known to be.
    public enum Proof: String, Hashable, Sendable, Encodable {
        /// All choices were tried, or nothing had to be given up.
        case optimal
        /// No single part can be quantized in addition, or in a smaller format.
        case minimal
        /// The effects of parts were assumed to be independent.
        case estimated
    }
}

/// How much a search may change the outputs of a package.
public enum QuantizationBound: Hashable, Sendable, CustomStringConvertible {
    /// The largest mean CIEDE2000 difference of a colorizer's colors.
    case meanDeltaE(Double)
    /// The lowest SNR of any output, in dB.
    case minSNR(Double)

    /// As in `mean ΔE2000 ≤ 1`.
    public var description: String {
        switch self {
        case .meanDeltaE(let bound): "mean ΔE2000 ≤ \(Self.text(bound))"
        case .minSNR(let bound): "SNR ≥ \(Self.text(bound)) dB"
        }
    }

    private static func text(_ bound: Double) -> String {
        Int(exactly: bound).map(String.init) ?? "\(bound)"
    }

    private var parameter: Remedy.Parameter {
        switch self {
        case .meanDeltaE: .maximumDeltaE
        case .minSNR: .minimumSNR
        }
    }

    /// The bound as an error, of which the squares add up over weights.
    var error: Double {
        switch self {
        case .meanDeltaE(let bound): bound
        case .minSNR(let bound): pow(10, -bound / 20)
        }
    }

    /// A change as an error.
    func error(_ change: QuantizationReport.OutputChange) -> Double {
        switch self {
        case .meanDeltaE: change.deltaE2000 ?? .infinity
        case .minSNR: change.snrDb.map { pow(10, -$0 / 20) } ?? 0
        }
    }

    /// Whether a change is within the bound.
    public func holds(for change: QuantizationReport.OutputChange) -> Bool {
        error(change) <= error
    }

    /// An error as the measure that is bounded.
    func measure(_ error: Double) -> (deltaE2000: Double?, snrDb: Double?) {
        switch self {
        case .meanDeltaE: (error, nil)
        case .minSNR: (nil, error > 0 ? -20 * log10(error) : nil)
        }
    }

    /// - Throws: `ConversionError` if the outputs are not colors and the bound is one on ΔE2000.
    func check(_ probe: OutputProbe) throws {
        guard case .meanDeltaE = self, !probe.isColorizer else { return }
        var error = ConversionError(
            place: "search", rule: "the outputs are not a and b, so they have no ΔE2000",
            remedy: "Bound the SNR of the outputs.")
        error.remedies = [Remedy(.minimumSNR)]
        throw error
    }

    /// No choice meets the bound.
    var unreachable: ConversionError {
        var error = ConversionError(
            place: "search", rule: "no quantization keeps the outputs within \(self)",
            remedy: "Allow a larger difference.")
        error.remedies = [Remedy(parameter)]
        return error
    }
}

extension MLPackage {
    /// Searches for the smallest package whose outputs stay within a bound by choosing a scheme for
    /// each weight; or for the fastest one, by a table of latencies.
    ///
    /// The search measures the change of the outputs that each scheme causes for each weight
    /// separately. The errors of different weights are nearly independent, so their squares add up,
    /// and a Lagrange multiplier gives the smallest choice within an error budget. The resulting
    /// package is measured as a whole, and the budget is adjusted accordingly.
    ///
    /// Where that takes few measurements, nothing is assumed: with up to 4,096 choices, they are
    /// measured as a whole, the smallest first, so the result is optimal. With up to 4,096 runs for
    /// the single changes that would make the result smaller, these are measured until none is
    /// left within the bound, so it is minimal.
    ///
    /// - Parameters:
    ///   - inputs: the inputs of runs, at least one; L in 0…100 for lightness.
    ///   - bound: the largest allowed difference from this package's outputs, or from `targets`.
    ///   - schemes: those to choose from, beside leaving a weight as it is; nil for all that the
    ///     package's target has.
    ///   - threshold: see ``QuantizationScheme/threshold``; for schemes that state none.
    ///   - targets: outputs for each of the inputs that the bound is relative to, instead of this
    ///     package's own.
    ///   - latencies: the times of operations with each scheme, whose sum is to be small, instead
    ///     of the size. Only schemes that it has a time for are chosen.
    ///   - activations: how the inputs of operations with weights may be quantized, beside int8
    ///     weights; nil if they stay floats. Integers save time, not space, so that they are chosen
    ///     by `latencies` alone, where these have a time for `w8a8`.
    ///   - execution: how the network runs on the inputs.
    ///   - ranks: the processes that split the weights, all with the same arguments. Each
    ///     receives the same package as with one process.
    ///   - progress: called with the share of the weights that were measured.
    /// - Throws: `ConversionError` if no choice of schemes stays within the bound, or if the
    ///   outputs are not colors and the bound is one on ΔE2000; the errors of
    ///   ``quantized(_:calibration:execution:)``; `RankError` if ranks cannot reach each other.
    public func searchQuantization(
        on inputs: [[NamedTensor]], within bound: QuantizationBound,
        schemes: [QuantizationScheme]? = nil, threshold: Int? = nil,
        targets: [[NamedTensor]]? = nil, latencies: LatencyTable? = nil,
        activations: ActivationScheme? = nil, execution: Execution = .init(),
        ranks: Communicator = .single, progress: (Double) -> Void = { _ in }
    ) throws -> (package: MLPackage, report: QuantizationSearchReport) {
        let forms = forms(schemes, threshold, activations)
        try latencies?.check(weights, forms)
        let model = Model(self, execution: execution)
        let probe = try OutputProbe(model, inputs: inputs, targets: targets)
        try bound.check(probe)
        let integers = try activations.map { scheme in
            try ActivationQuantization(
                self, inputsOfWeighted(scheme), execution, on: inputs)
        }
        let measuring = WeightMeasuring(
            package: self, probe: probe, bound: bound, forms: forms, activations: integers)
        let search = try SchemeSearch(
            measuring, Calibration(model, on: inputs), latencies, ranks, progress)
        return try search.smallest()
    }

    /// The ways to store a weight, the first of which leaves it as it is.
    private func forms(
        _ schemes: [QuantizationScheme]?, _ threshold: Int?, _ activations: ActivationScheme?
    ) -> [WeightForm] {
        let weights = (schemes ?? SchemeSearch.candidates(target)).map { scheme in
            var scheme = scheme
            scheme.threshold = scheme.threshold ?? threshold
            return WeightForm(scheme: scheme)
        }
        guard let activations else { return [WeightForm()] + weights }
        var integers = WeightForm(scheme: .init(.int8), inputs: activations)
        // A layer of integers needs its weight in integers, however small.
        integers.scheme?.threshold = threshold ?? 0
        return [WeightForm()] + weights + [integers]
    }

    /// A scheme for the inputs of all operations with weights.
    private func inputsOfWeighted(_ scheme: ActivationScheme) -> SchemeSelection<ActivationScheme> {
        var selection = SchemeSelection<ActivationScheme>()
        for name in weights.flatMap(\.operations) { selection.byName[name] = scheme }
        return selection
    }
}

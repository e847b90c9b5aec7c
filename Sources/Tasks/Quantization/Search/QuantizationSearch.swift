import Foundation
import RetintDistributed
import RetintEngine
import RetintFiles
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime
import RetintTensors

/// The result of ``MLPackage/searchQuantization(on:within:schemes:execution:ranks:progress:)``.
public struct QuantizationSearchReport: Hashable, Sendable, Encodable {
    /// The scheme of each weight.
    public let quantization: QuantizationReport
    /// The change of the outputs on the given inputs.
    public let change: QuantizationReport.OutputChange
    /// What is known about the choice.
    public let proof: Proof

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
    /// each weight.
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
    ///   - bound: the largest allowed difference from this package's outputs.
    ///   - schemes: those to choose from, beside leaving a weight as it is; nil for all that the
    ///     package's target has.
    ///   - execution: how the network runs on the inputs.
    ///   - ranks: the processes that split the weights, all with the same arguments. Each
    ///     receives the same package as with one process.
    ///   - progress: called with the share of the weights that were measured.
    /// - Throws: `ConversionError` if no choice of schemes stays within the bound, or if the
    ///   outputs are not colors and the bound is one on ΔE2000; the errors of
    ///   ``quantized(_:calibration:execution:)``; `RankError` if ranks cannot reach each other.
    public func searchQuantization(
        on inputs: [[NamedTensor]], within bound: QuantizationBound,
        schemes: [QuantizationScheme]? = nil, execution: Execution = .init(),
        ranks: Communicator = .single, progress: (Double) -> Void = { _ in }
    ) throws -> (package: MLPackage, report: QuantizationSearchReport) {
        let search = try SchemeSearch(
            self, Model(self, execution: execution), inputs: inputs, bound,
            schemes ?? SchemeSearch.candidates(target), ranks, progress)
        return try search.smallest()
    }
}

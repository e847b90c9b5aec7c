import Foundation
import RetintDistributed
import RetintEngine
import RetintFiles
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime
import RetintTensors

/// The result of ``MLPackage/searchQuantization(on:within:execution:ranks:)``.
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
        /// No single part can be quantized in addition.
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
    /// - Parameters:
    ///   - inputs: the inputs of runs, at least one; L in 0…100 for lightness.
    ///   - bound: the largest allowed difference from this package's outputs.
    ///   - execution: how the network runs on the inputs.
    ///   - ranks: the processes that split the weights, all with the same arguments. Each
    ///     receives the same package as with one process.
    /// - Throws: `ConversionError` if no choice of schemes stays within the bound, or if the
    ///   outputs are not colors and the bound is one on ΔE2000; the errors of
    ///   ``quantized(_:calibration:execution:)``; `RankError` if ranks cannot reach each other.
    public func searchQuantization(
        on inputs: [[NamedTensor]], within bound: QuantizationBound,
        execution: Execution = .init(), ranks: Communicator = .single
    ) throws -> (package: MLPackage, report: QuantizationSearchReport) {
        let search = try SchemeSearch(
            self, Model(self, execution: execution), inputs: inputs, bound, ranks)
        return try search.smallest()
    }
}

private struct SchemeSearch {
    private let package: MLPackage
    private let bound: QuantizationBound
    private let probe: OutputProbe
    private let calibration: Calibration
    private let choices: [[Choice]]
    /// Why a weight is not compressed, by weight name.
    private let reasons: [String: String]
    /// The number of runs on which each weight is measured separately.
    private static let probeRuns = 4
    /// The maximum number of error budgets to try.
    private static let attempts = 6

    /// A scheme for a weight; a nil scheme leaves it uncompressed.
    private struct Choice {
        let weight: String
        let scheme: QuantizationScheme?
        let cost: Cost

        var bytes: Int { cost.bytes }
        var error: Double { cost.error }
    }

    private struct Cost: Codable {
        let bytes: Int
        /// The error of the outputs caused by this choice only.
        let error: Double
    }

    init(
        _ package: MLPackage, _ model: Model, inputs: [[NamedTensor]],
        _ bound: QuantizationBound, _ ranks: Communicator
    ) throws {
        (self.package, self.bound) = (package, bound)
        let probe = try OutputProbe(model, inputs: inputs)
        try bound.check(probe)
        let calibration = try Calibration(model, on: inputs)
        (self.probe, self.calibration) = (probe, calibration)
        var (observed, own) = ([PackageWeight](), [[Cost]]())
        let weights = Dictionary(package.weights.map { ($0.name, $0) }) { first, _ in first }
        var reasons = weights.mapValues { Self.reason($0) }
        try calibration.forEachWeight(among: Set(weights.keys)) { name, parts in
            guard let weight = weights[name], reasons[name] == Self.unobserved else { return }
            if observed.count % ranks.size == ranks.rank {
                let inputs = WeightInputs(parts, correctsBias: false)
                own.append(try Self.costs(weight, inputs, package.target, probe, bound))
            }
            observed.append(weight)
            reasons[name] = "the error budget is better spent on other weights"
        }
        let costs = try ranks.gather(own, of: observed.count)
        choices = zip(observed, costs).map { weight, costs in
            zip(Self.tasks(weight, package.target), costs).map { task, cost in
                Choice(weight: weight.name, scheme: task.scheme, cost: cost)
            }
        }
        self.reasons = reasons
    }

    private static let unobserved = "calibration observed no inputs for it"

    /// Why a weight cannot be compressed; `unobserved` if it can, once its inputs are observed.
    private static func reason(_ weight: PackageWeight) -> String {
        switch WeightTask.make(weight, .init(.int8)) {
        case .success: unobserved
        case .failure(let reason): reason.text
        }
    }

    /// The ways to compress a weight; the first one leaves it uncompressed.
    private static func tasks(
        _ weight: PackageWeight, _ target: DeploymentTarget
    ) -> [(scheme: QuantizationScheme?, task: WeightTask?)] {
        [(nil, nil)]
            + candidates(target).compactMap { scheme in
                guard case .success(let task) = WeightTask.make(weight, scheme) else { return nil }
                return (scheme, task)
            }
    }

    /// The cost of each of ``tasks(_:_:)``.
    private static func costs(
        _ weight: PackageWeight, _ inputs: WeightInputs, _ target: DeploymentTarget,
        _ probe: OutputProbe, _ bound: QuantizationBound
    ) throws -> [Cost] {
        let values = try weight.finiteValues()
        return try tasks(weight, target).map { _, task in
            guard let task else { return Cost(bytes: weight.value.storedBytes, error: 0) }
            let compressed = task.compressed(values, inputs)
            return Cost(
                bytes: compressed.operations(
                    replacing: weight.constant, axis: task.axis, target: target
                ).storedBytes,
                error: bound.error(
                    try probe.change(
                        to: [weight.name: compressed.decompressed], onFirst: probeRuns)))
        }
    }

    private static func candidates(_ target: DeploymentTarget) -> [QuantizationScheme] {
        var schemes: [QuantizationScheme] = [.init(.float16), .init(.int8)]
        if target >= .iOS18 {
            schemes.append(.init(.int4, granularity: .perBlock))
            schemes += [6, 4, 3, 2].map {
                .init(.palette(bits: $0), granularity: .perGroup, blockSize: 16)
            }
        }
        return schemes + [6, 4, 2, 1].map { .init(.palette(bits: $0)) }
    }

    /// The choice with the lowest cost for each weight.
    private func chosen(price: Double) -> [Choice] {
        choices.compactMap { weight in
            weight.min { cost($0, price) < cost($1, price) }
        }
    }

    /// The Lagrangian: bytes + price · error².
    private func cost(_ choice: Choice, _ price: Double) -> Double {
        Double(choice.bytes) + price * choice.error * choice.error
    }

    /// The smallest choice whose combined error, the root of the sum of squares, is within `limit`.
    private func smallest(within limit: Double) -> [Choice] {
        var (low, high) = (-20.0, 80.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            let error = chosen(price: exp2(middle)).reduce(0) { $0 + $1.error * $1.error }
            if error <= limit * limit { high = middle } else { low = middle }
        }
        return chosen(price: exp2(high))
    }

    func smallest() throws -> (package: MLPackage, report: QuantizationSearchReport) {
        var best: (package: MLPackage, report: QuantizationSearchReport)?
        var (limit, last) = (bound.error, [QuantizationScheme?]())
        for _ in 0..<Self.attempts {
            let choice = smallest(within: limit)
            guard choice.map(\.scheme) != last, choice.contains(where: { $0.scheme != nil }) else {
                break
            }
            last = choice.map(\.scheme)
            let (result, report) = try quantized(package, plan(choice), calibration)
            let change = try probe.change(to: result)
            let isSmaller = report.sizeChange < best?.report.quantization.sizeChange ?? .max
            let error = bound.error(change)
            if error <= bound.error, isSmaller {
                best = (
                    result,
                    QuantizationSearchReport(
                        quantization: report, change: change, proof: .estimated)
                )
            }
            limit *= min(max(0.98 * bound.error / max(error, 1e-9), 0.25), 4)
        }
        guard let best else { throw bound.unreachable }
        return best
    }

    private func plan(_ choices: [Choice]) -> QuantizationPlan {
        var plan = QuantizationPlan(nil)
        plan.reasons = reasons
        for choice in choices {
            plan.weights.byName.updateValue(choice.scheme, forKey: choice.weight)
        }
        return plan
    }
}

extension QuantizationReport {
    /// The change in size in bytes: negative for savings.
    fileprivate var sizeChange: Int { bytesAfter - bytesBefore }
}

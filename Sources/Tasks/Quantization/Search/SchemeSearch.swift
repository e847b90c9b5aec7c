import Foundation
import RetintDistributed
import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime
import RetintTensors

/// Looks for the smallest or fastest package within a bound, for
/// `MLPackage.searchQuantization`.
struct SchemeSearch {
    let bound: QuantizationBound
    let probe: OutputProbe
    /// The choices of each weight; the first one leaves it uncompressed.
    let choices: [[Choice]]
    /// The weights of ``choices``.
    let weights: [PackageWeight]
    private let package: MLPackage
    private let calibration: Calibration
    private let latencies: LatencyTable?
    /// Why a weight is not compressed, by weight name.
    private let reasons: [String: String]
    /// The number of runs on which each weight is measured separately.
    private static let probeRuns = 4
    /// The maximum number of error budgets to try.
    private static let attempts = 6

    /// A scheme for a weight; a nil scheme leaves it uncompressed.
    struct Choice {
        let weight: String
        let scheme: QuantizationScheme?
        let cost: Cost
        /// What is to be as little as possible in total: bytes, or milliseconds.
        let expense: Double
        /// The square of the error that it adds to that of the package itself.
        let addedError: Double

        var bytes: Int { cost.bytes }
        var error: Double { cost.error }
    }

    struct Cost: Codable {
        let bytes: Int
        /// The error of the outputs with this choice only.
        let error: Double
    }

    init(
        _ package: MLPackage, _ probe: OutputProbe, _ calibration: Calibration,
        _ bound: QuantizationBound, _ schemes: [QuantizationScheme], _ latencies: LatencyTable?,
        _ ranks: Communicator, _ progress: (Double) -> Void
    ) throws {
        (self.package, self.bound, self.latencies) = (package, bound, latencies)
        (self.probe, self.calibration) = (probe, calibration)
        let base = bound.error(try probe.ownChange(onFirst: Self.probeRuns))
        var (observed, own) = ([PackageWeight](), [[Cost]]())
        let weights = Dictionary(package.weights.map { ($0.name, $0) }) { first, _ in first }
        var reasons = weights.mapValues { Self.reason($0, schemes) }
        let count = reasons.values.count { $0 == Self.unobserved }
        try calibration.forEachWeight(among: Set(weights.keys)) { name, parts in
            guard let weight = weights[name], reasons[name] == Self.unobserved else { return }
            if observed.count % ranks.size == ranks.rank {
                let inputs = WeightInputs(parts, correctsBias: false)
                own.append(
                    try Self.costs(
                        weight, inputs, package.target, schemes, probe, bound, base: base))
            }
            observed.append(weight)
            progress(Double(observed.count) / Double(count))
            reasons[name] = "the error budget is better spent on other weights"
        }
        let costs = try ranks.gather(own, of: observed.count)
        choices = try zip(observed, costs).map { weight, costs in
            try zip(Self.tasks(weight, schemes), costs).compactMap { task, cost in
                guard
                    let expense = try Self.expense(of: weight, task.scheme, cost, latencies)
                else { return nil }
                return Choice(
                    weight: weight.name, scheme: task.scheme, cost: cost, expense: expense,
                    addedError: max(cost.error * cost.error - base * base, 0))
            }
        }
        if let latencies {
            for weight in observed where !latencies.names(weight) {
                reasons[weight.name] = "the table of latencies does not name it"
            }
        }
        (self.reasons, self.weights) = (reasons, observed)
    }

    /// - Returns: nil if a table of latencies does not have the scheme of a weight.
    private static func expense(
        of weight: PackageWeight, _ scheme: QuantizationScheme?, _ cost: Cost,
        _ latencies: LatencyTable?
    ) throws -> Double? {
        guard let latencies else { return Double(cost.bytes) }
        guard latencies.names(weight) else { return scheme == nil ? 0 : nil }
        let time = latencies.milliseconds(weight, scheme)
        guard time != nil || scheme != nil else { throw latencies.incomplete(weight) }
        return time
    }

    private static let unobserved = "calibration observed no inputs for it"

    /// Why a weight cannot be compressed; `unobserved` if it can, once its inputs are observed.
    private static func reason(
        _ weight: PackageWeight, _ schemes: [QuantizationScheme]
    ) -> String {
        var any = QuantizationScheme(.int8)
        any.threshold = schemes.compactMap(\.threshold).min()
        return switch WeightTask.make(weight, any) {
        case .success: unobserved
        case .failure(let reason): reason.text
        }
    }

    /// The ways to compress a weight; the first one leaves it uncompressed.
    private static func tasks(
        _ weight: PackageWeight, _ schemes: [QuantizationScheme]
    ) -> [(scheme: QuantizationScheme?, task: WeightTask?)] {
        [(nil, nil)]
            + schemes.compactMap { scheme in
                guard case .success(let task) = WeightTask.make(weight, scheme) else { return nil }
                return (scheme, task)
            }
    }

    /// The cost of each of ``tasks(_:_:)``.
    ///
    /// - Parameter base: the error of the package as it is.
    private static func costs(
        _ weight: PackageWeight, _ inputs: WeightInputs, _ target: DeploymentTarget,
        _ schemes: [QuantizationScheme], _ probe: OutputProbe, _ bound: QuantizationBound,
        base: Double
    ) throws -> [Cost] {
        let values = try weight.finiteValues()
        return try tasks(weight, schemes).map { _, task in
            guard let task else { return Cost(bytes: weight.value.storedBytes, error: base) }
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

    /// The schemes that a target has, of which one is chosen for each weight.
    static func candidates(_ target: DeploymentTarget) -> [QuantizationScheme] {
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

    /// The Lagrangian: expense + price · error².
    private func cost(_ choice: Choice, _ price: Double) -> Double {
        choice.expense + price * choice.addedError
    }

    /// The least choice whose combined error, the root of the sum of squares, is within `limit`.
    private func smallest(within limit: Double) -> [Choice] {
        var (low, high) = (-20.0, 80.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            let error = chosen(price: exp2(middle)).reduce(0) { $0 + $1.addedError }
            if error <= limit * limit { high = middle } else { low = middle }
        }
        return chosen(price: exp2(high))
    }

    typealias Found = (package: MLPackage, report: QuantizationSearchReport)

    func smallest() throws -> Found {
        guard choices.contains(where: { $0.count > 1 }) else {
            let largest = package.weights.max {
                $0.shape.reduce(1, *) < $1.shape.reduce(1, *)
            }
            throw WeightTask.Reason.nothing(
                largest.map { ($0.name, reasons[$0.name] ?? Self.unobserved) })
        }
        if let measured = try MeasuredChoices(of: self) {
            guard let found = try measured.optimal() else { throw bound.unreachable }
            return found
        }
        guard let (choice, found) = try estimated() else { throw bound.unreachable }
        return try MeasuredChoices(improving: choice, of: self)?.minimal() ?? found
    }

    /// The smallest choice within the bound if the effects of weights are independent; the package
    /// itself was measured.
    private func estimated() throws -> (choice: [Choice], found: Found)? {
        var best: (choice: [Choice], found: Found)?
        let base = bound.error(try probe.ownChange(onFirst: probe.count))
        func added(_ error: Double) -> Double { max(error * error - base * base, 0).squareRoot() }
        var (limit, last) = (added(bound.error), [QuantizationScheme?]())
        for _ in 0..<Self.attempts {
            let choice = smallest(within: limit)
            guard choice.map(\.scheme) != last, choice.contains(where: { $0.scheme != nil }) else {
                break
            }
            last = choice.map(\.scheme)
            let found = try measured(choice, .estimated)
            let isLess = expense(of: choice) < best.map { expense(of: $0.choice) } ?? .infinity
            let error = bound.error(found.report.change)
            if error <= bound.error, isLess { best = (choice, found) }
            limit *= min(max(0.98 * added(bound.error) / max(added(error), 1e-9), 0.25), 4)
        }
        return best
    }

    private func expense(of choice: [Choice]) -> Double {
        choice.reduce(0) { $0 + $1.expense }
    }

    /// The package of a choice for each weight, measured.
    func measured(
        _ choice: [Choice], _ proof: QuantizationSearchReport.Proof
    ) throws -> Found {
        let plan = plan(choice)
        let (result, report) = try quantized(package, plan, calibration)
        let change = try probe.change(to: result)
        return (
            result,
            QuantizationSearchReport(
                quantization: report, change: change, proof: proof, sensitivities: sensitivities,
                latency: latency(of: choice), plan: plan)
        )
    }

    private func latency(of choice: [Choice]) -> QuantizationSearchReport.Latency? {
        guard latencies != nil else { return nil }
        return .init(
            millisecondsBefore: expense(of: choices.compactMap(\.first)),
            millisecondsAfter: expense(of: choice))
    }

    private var sensitivities: [QuantizationSearchReport.Sensitivity] {
        let bySensitivity = choices.filter { $0.count > 1 }.sorted { one, other in
            let (a, b) = (one.dropFirst().map(\.error).min(), other.dropFirst().map(\.error).min())
            return (a ?? 0, one[0].weight) > (b ?? 0, other[0].weight)
        }
        return bySensitivity.flatMap { weight in
            weight.compactMap { choice in
                guard let scheme = choice.scheme else { return nil }
                let measured = bound.measure(choice.error)
                return QuantizationSearchReport.Sensitivity(
                    weight: choice.weight, scheme: "\(scheme)", bytesBefore: weight[0].bytes,
                    bytesAfter: choice.bytes, deltaE2000: measured.deltaE2000,
                    snrDb: measured.snrDb)
            }
        }
    }

    /// The packages in which only one weight is compressed, of each of some choices.
    func compressed(_ choices: [Choice]) throws -> [MLPackage] {
        try quantized(package, by: choices.map { plan([$0]) }, calibration).map {
            try $0.get().package
        }
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

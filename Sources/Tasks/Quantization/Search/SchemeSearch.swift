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
    private let measuring: WeightMeasuring
    var bound: QuantizationBound { measuring.bound }
    var probe: OutputProbe { measuring.probe }
    /// The choices of each weight; the first one leaves it uncompressed.
    let choices: [[Choice]]
    /// The weights of ``choices``.
    let weights: [PackageWeight]
    private let calibration: Calibration
    private let latencies: LatencyTable?
    /// Why a weight is not compressed, by weight name.
    private let reasons: [String: WeightTask.Reason]
    /// The maximum number of error budgets to try.
    private static let attempts = 6

    /// A form of a weight.
    struct Choice {
        let weight: String
        /// The operations that use it.
        let operations: [String]
        let form: WeightForm
        let cost: WeightMeasuring.Cost
        /// What is to be as little as possible in total: bytes, or milliseconds.
        let expense: Double
        /// The square of the error that it adds to that of the package itself.
        let addedError: Double

        var bytes: Int { cost.bytes }
        var error: Double { cost.error }
    }

    init(
        _ measuring: WeightMeasuring, _ calibration: Calibration, _ latencies: LatencyTable?,
        _ ranks: Communicator, _ progress: (Double) -> Void
    ) throws {
        (self.measuring, self.calibration, self.latencies) = (measuring, calibration, latencies)
        let base = try measuring.ownError
        var (observed, own) = ([PackageWeight](), [[WeightMeasuring.Cost]]())
        let weights = Dictionary(
            measuring.package.weights.map { ($0.name, $0) },
            uniquingKeysWith: { first, _ in first })
        var reasons = weights.mapValues { Self.reason($0, measuring.forms) }
        let count = reasons.values.count { $0 == Self.unobserved }
        try calibration.forEachWeight(among: Set(weights.keys)) { name, parts in
            guard let weight = weights[name], reasons[name] == Self.unobserved else { return }
            if observed.count % ranks.size == ranks.rank {
                let inputs = WeightInputs(parts, correctsBias: false)
                own.append(try measuring.costs(of: weight, inputs, base: base))
            }
            observed.append(weight)
            progress(Double(observed.count) / Double(count))
            reasons[name] = .other("the error budget is better spent on other weights")
        }
        let costs = try ranks.gather(own, of: observed.count)
        choices = try zip(observed, costs).map { weight, costs in
            try zip(measuring.tasks(weight), costs).compactMap { task, cost in
                let form = task.form
                guard form.scheme == nil || form.inputs != nil || weight.gains(at: cost.bytes),
                    let expense = try Self.expense(of: weight, form, cost, latencies)
                else { return nil }
                return Choice(
                    weight: weight.name, operations: weight.operations, form: form, cost: cost,
                    expense: expense, addedError: max(cost.error * cost.error - base * base, 0))
            }
        }
        if let latencies {
            for weight in observed where !latencies.names(weight) {
                reasons[weight.name] = .other("the table of latencies does not name it")
            }
        }
        (self.reasons, self.weights) = (reasons, observed)
    }

    /// - Returns: nil if a table of latencies does not have the form of a weight.
    private static func expense(
        of weight: PackageWeight, _ form: WeightForm, _ cost: WeightMeasuring.Cost,
        _ latencies: LatencyTable?
    ) throws -> Double? {
        guard let latencies else { return Double(cost.bytes) }
        guard latencies.names(weight) else { return form.scheme == nil ? 0 : nil }
        let time = latencies.milliseconds(weight, form)
        guard time != nil || form.scheme != nil else { throw latencies.incomplete(weight) }
        return time
    }

    private static let unobserved = WeightTask.Reason.other("calibration observed no inputs for it")

    /// Why a weight cannot be compressed; `unobserved` if it can, once its inputs are observed.
    private static func reason(
        _ weight: PackageWeight, _ forms: [WeightForm]
    ) -> WeightTask.Reason {
        var any = QuantizationScheme(.int8)
        any.threshold = forms.compactMap { $0.scheme?.threshold }.min()
        return switch WeightTask.make(weight, any) {
        case .success: unobserved
        case .failure(let reason): reason
        }
    }

    /// The operations of a choice that get integers.
    func integerOperations(of choice: [Choice]) -> Set<String> {
        Set(choice.filter { $0.form.inputs != nil }.flatMap(\.operations))
    }

    /// The package with integers for some operations.
    func package(of integerOperations: Set<String>) -> MLPackage {
        measuring.package(of: integerOperations)
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
            let largest = measuring.package.weights.max {
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
        var (limit, last) = (added(bound.error), [WeightForm]())
        for _ in 0..<Self.attempts {
            let choice = smallest(within: limit)
            guard choice.map(\.form) != last,
                choice.contains(where: { $0.form.scheme != nil })
            else { break }
            last = choice.map(\.form)
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
        let operations = integerOperations(of: choice)
        var (result, report) = try quantized(package(of: operations), plan, calibration)
        if !operations.isEmpty {
            report.activations = measuring.activations?.used(by: operations).report() ?? []
        }
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
                guard choice.form.scheme != nil else { return nil }
                let measured = bound.measure(choice.error)
                return QuantizationSearchReport.Sensitivity(
                    weight: choice.weight, scheme: "\(choice.form)", bytesBefore: weight[0].bytes,
                    bytesAfter: choice.bytes, deltaE2000: measured.deltaE2000,
                    snrDb: measured.snrDb)
            }
        }
    }

    /// The packages in which only one weight is compressed, of each of some choices.
    func compressed(_ choices: [Choice]) throws -> [MLPackage] {
        let floats = choices.filter { $0.form.inputs == nil }
        var others = try quantized(
            measuring.package, by: floats.map { plan([$0]) }, calibration
        ).makeIterator()
        return try choices.compactMap { choice in
            if choice.form.inputs == nil { return try others.next()?.get().package }
            let source = package(of: Set(choice.operations))
            return try quantized(source, plan([choice]), calibration).package
        }
    }

    private func plan(_ choices: [Choice]) -> QuantizationPlan {
        var plan = QuantizationPlan(nil)
        plan.reasons = reasons.mapValues(\.text)
        for choice in choices {
            plan.weights.byName.updateValue(choice.form.scheme, forKey: choice.weight)
            guard let inputs = choice.form.inputs else { continue }
            for name in choice.operations { plan.activations.byName[name] = inputs }
        }
        return plan
    }
}

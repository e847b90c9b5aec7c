import Foundation
import MIL
import MLPackage

typealias QuantizedPackage = (package: MLPackage, report: QuantizationReport)

/// The package with its weights in fewer bits.
func quantized(
    _ package: MLPackage, _ plan: QuantizationPlan, _ calibration: Calibration?
) throws -> QuantizedPackage {
    try quantized(package, by: [plan], calibration)[0].get()
}

/// What each plan makes of the package, or why it makes nothing of it. What photos show is gathered
/// once for all of them.
///
/// - Parameter progress: called after each weight that photos show something of.
func quantized(
    _ package: MLPackage, by plans: [QuantizationPlan], _ calibration: Calibration?,
    progress: () -> Void = {}
) throws -> [Result<QuantizedPackage, any Error>] {
    var attempts = plans.map { plan in Result { try PackageQuantization(package, plan) } }
    let biases = PackageRewriting(package)
    let names = attempts.reduce(into: Set()) { $0.formUnion((try? $1.get().names) ?? []) }
    try calibration?.forEachWeight(among: names) { weight, parts in
        let inputs = WeightInputs(parts, correctsBias: biases.hasBias(weight))
        for index in attempts.indices {
            attempts[index].update { try $0.replace(weight, inputs) }
        }
        progress()
    }
    return attempts.map { attempt in
        Result {
            var quantization = try attempt.get()
            return try quantization.finished()
        }
    }
}

extension Result<PackageQuantization, any Error> {
    fileprivate mutating func update(_ body: (inout Success) throws -> Void) {
        guard case .success(var value) = self else { return }
        self = Result {
            try body(&value)
            return value
        }
    }
}

/// Makes the weights of a package smaller, one after the other.
struct PackageQuantization {
    private let weights: [PackageWeight]
    private var rewriting: PackageRewriting
    private var report = QuantizationReport()
    /// What is still to be done, by the weight's name.
    private var tasks: [String: (weight: PackageWeight, task: WeightTask)] = [:]

    var names: Set<String> { Set(tasks.keys) }

    /// - Throws: as ``quantizePackage(at:to:plan:calibration:)`` does for the plan.
    init(_ package: MLPackage, _ plan: QuantizationPlan) throws {
        try plan.check(package)
        var package = package
        report.raisedTarget = package.raiseTarget(for: plan)
        (rewriting, weights) = (PackageRewriting(package), package.weights)
        for operation in package.program.operations where operation.isConstantExpression {
            skip(operation.outputs[0], "its bits are fewer already")
        }
        for weight in weights {
            guard let scheme = plan.scheme(names: weight.names, type: weight.type) else {
                skip(weight.constant.outputs[0], plan.reason(forLeavingAlone: weight.name))
                continue
            }
            switch WeightTask.make(weight, scheme) {
            case .success(let task): tasks[weight.name] = (weight, task)
            case .failure(let reason): skip(weight.constant.outputs[0], reason.text)
            }
        }
    }

    /// Replaces a weight, if that is still to be done.
    mutating func replace(_ name: String, _ inputs: WeightInputs?) throws {
        guard let (weight, task) = tasks.removeValue(forKey: name) else { return }
        try replace(weight, task, inputs)
    }

    /// The package once all is done; weights of which photos showed nothing are rounded as they are.
    mutating func finished() throws -> QuantizedPackage {
        for weight in weights { try replace(weight.name, nil) }
        guard !report.compressed.isEmpty else {
            throw ConversionError(
                place: "weights", rule: "none can be made smaller in this way",
                remedy: report.skipped.first.map { "For example \($0.name): \($0.reason)." }
                    ?? "The package has no weights.")
        }
        var result = rewriting.result
        let schemes = Set(report.compressed.map(\.scheme)).sorted()
        result.description.metadata.userDefined["retint.weights"] = schemes.joined(separator: ", ")
        return (result, report)
    }

    private mutating func skip(_ output: MILNamedType, _ reason: String) {
        report.skipped.append(
            .init(name: output.name, shape: output.type.shape ?? [], reason: reason))
    }

    private mutating func replace(
        _ weight: PackageWeight, _ task: WeightTask, _ inputs: WeightInputs?
    ) throws {
        let values = try weight.finiteNumbers()
        let compressed = task.compressed(values, inputs)
        let unpacked = compressed.unpacked
        try checkRange(compressed, unpacked, weight)
        let bytes = rewriting.replace(weight, task.axis, by: compressed)
        if let inputs { try rewriting.correctBias(of: weight, inputs, from: values, to: unpacked) }
        report.compressed.append(
            .init(
                name: weight.name, operation: weight.type, shape: weight.shape,
                scheme: "\(task.scheme)", bytesBefore: weight.value.storedBytes,
                bytesAfter: bytes, snrDb: decibels(power(values, unpacked)),
                outputSnrDb: inputs.flatMap {
                    decibels($0.outputPower(of: values, changedTo: unpacked))
                }))
    }

    private func checkRange(
        _ compressed: CompressedWeight, _ unpacked: [Float], _ weight: PackageWeight
    ) throws {
        guard !unpacked.allSatisfy(\.isFinite) else { return }
        throw ConversionError(
            place: "weight \(weight.name)",
            rule: "it has numbers beyond float16, whose greatest is 65504",
            remedy: "Choose int8, or a palette.")
    }
}

private func power(_ values: [Float], _ rounded: [Float]) -> (signal: Double, noise: Double) {
    zip(values, rounded).reduce(into: (0, 0)) { power, pair in
        power.0 += Double(pair.0) * Double(pair.0)
        power.1 += Double(pair.0 - pair.1) * Double(pair.0 - pair.1)
    }
}

private func decibels(_ power: (signal: Double, noise: Double)) -> Double? {
    power.noise > 0 && power.signal > 0 ? 10 * log10(power.signal / power.noise) : nil
}

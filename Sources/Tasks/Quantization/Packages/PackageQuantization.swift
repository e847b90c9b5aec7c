import Foundation
import RetintMIL
import RetintMLPackage

typealias QuantizedPackage = (package: MLPackage, report: QuantizationReport)

/// Compresses the weights of a package.
func quantized(
    _ package: MLPackage, _ plan: QuantizationPlan, _ calibration: Calibration?
) throws -> QuantizedPackage {
    try quantized(package, by: [plan], calibration)[0].get()
}

/// The package compressed by each plan, or the error of a plan that fails. All plans share one
/// calibration.
///
/// - Parameter progress: called after each calibrated weight.
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

/// Compresses the weights of a package one after another.
struct PackageQuantization {
    private let weights: [PackageWeight]
    private let compressesWeights: Bool
    private var rewriting: PackageRewriting
    private var report = QuantizationReport()
    /// The weights that remain to be compressed, by name.
    private var tasks: [String: (weight: PackageWeight, task: WeightTask)] = [:]
    /// The largest weight that was left out so far, with the reason.
    private var largestSkipped: (name: String, elements: Int, reason: WeightTask.Reason)?

    var names: Set<String> { Set(tasks.keys) }

    /// - Throws: `ConversionError` if the plan does not fit the package.
    init(_ package: MLPackage, _ plan: QuantizationPlan) throws {
        try plan.check(package)
        compressesWeights = !plan.weights.all.isEmpty
        var package = package
        report.raisedTarget = package.raiseTarget(for: plan)
        (rewriting, weights) = (PackageRewriting(package), package.weights)
        for operation in package.program.operations where operation.isConstantExpression {
            skip(operation, .other("it is already compressed"))
        }
        for weight in weights {
            guard let scheme = plan.scheme(of: weight) else {
                skip(weight.constant, .other(plan.reason(forExcluding: weight.name)))
                continue
            }
            switch WeightTask.make(weight, scheme) {
            case .success(let task): tasks[weight.name] = (weight, task)
            case .failure(let reason): skip(weight.constant, reason)
            }
        }
    }

    /// Compresses a weight unless that has been done.
    ///
    /// - Parameter inputs: the observed inputs of the weight; nil without calibration.
    mutating func replace(_ name: String, _ inputs: WeightInputs?) throws {
        guard let (weight, task) = tasks.removeValue(forKey: name) else { return }
        try replace(weight, task, inputs)
    }

    /// Compresses the remaining weights without calibration and returns the package.
    ///
    /// - Throws: `ConversionError` if weights were to be compressed, but none could be.
    mutating func finished() throws -> QuantizedPackage {
        for weight in weights {
            try Task.checkCancellation()
            try replace(weight.name, nil)
        }
        guard !compressesWeights || !report.compressed.isEmpty else {
            throw WeightTask.Reason.nothing(largestSkipped.map { ($0.name, $0.reason) })
        }
        var result = rewriting.result
        let schemes = Set(report.compressed.map(\.scheme)).sorted()
        guard !schemes.isEmpty else { return (result, report) }
        result.description.metadata.userDefined["retint.weights"] = schemes.joined(separator: ", ")
        return (result, report)
    }

    private mutating func skip(_ constant: MILOperation, _ reason: WeightTask.Reason) {
        let output = constant.outputs[0]
        let elements = output.type.elementCount ?? 0
        if elements > largestSkipped?.elements ?? -1 {
            largestSkipped = (output.name, elements, reason)
        }
        report.skipped.append(
            .init(
                name: output.name, shape: output.type.shape ?? [], bytes: [constant].storedBytes,
                reason: reason.text))
    }

    private mutating func replace(
        _ weight: PackageWeight, _ task: WeightTask, _ inputs: WeightInputs?
    ) throws {
        let values = try weight.finiteValues()
        let compressed = task.compressed(
            values, inputs, leastScales: try rewriting.leastScales(of: weight, task.blocks))
        let decompressed = compressed.decompressed
        try checkRange(compressed, decompressed, weight)
        let operations = rewriting.operations(for: weight, task.axis, compressed)
        let (bytes, before) = (operations.storedBytes, weight.value.storedBytes)
        guard weight.gains(at: bytes) else {
            return skip(
                weight.constant, .other("it would take \(bytes) bytes instead of \(before)"))
        }
        rewriting.replace(weight, by: operations)
        if let inputs {
            try rewriting.correctBias(of: weight, inputs, from: values, to: decompressed)
        }
        report.compressed.append(
            .init(
                name: weight.name, operation: weight.type, shape: weight.shape,
                scheme: "\(task.scheme)", bytesBefore: before,
                bytesAfter: bytes, snrDb: decibels(power(values, decompressed)),
                outputSnrDb: inputs.flatMap {
                    decibels($0.outputPower(of: values, changedTo: decompressed))
                }))
    }

    private func checkRange(
        _ compressed: CompressedWeight, _ decompressed: [Float], _ weight: PackageWeight
    ) throws {
        guard !decompressed.allSatisfy(\.isFinite) else { return }
        throw ConversionError(
            place: "weight \(weight.name)",
            rule: "it has values outside the float16 range of ±65504",
            remedy: "Choose int8 or a palette.")
    }
}

private func power(_ values: [Float], _ rounded: [Float]) -> (signal: Double, noise: Double) {
    zip(values, rounded).reduce(into: (0, 0)) { power, pair in
        power.0 += Double(pair.0) * Double(pair.0)
        power.1 += Double(pair.0 - pair.1) * Double(pair.0 - pair.1)
    }
}

/// A signal-to-noise ratio in dB; nil if it is infinite or there is no signal.
func decibels(_ power: (signal: Double, noise: Double)) -> Double? {
    power.noise > 0 && power.signal > 0 ? 10 * log10(power.signal / power.noise) : nil
}

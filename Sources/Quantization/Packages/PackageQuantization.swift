import Conversion
import Foundation
import MLPackage
public import TensorGraph

/// Writes a package with its weights in fewer bits to `target`, replacing one that stands there.
///
/// The interface and the arithmetic stay as they are; weights are unpacked when the model loads.
///
/// - Parameters:
///   - plan: what becomes of which weight.
///   - calibration: lightness [1, 1, H, W] in 0…100 of the size that the package takes. With
///     some, scales, tables and rounding are chosen for the least error of each operation's output
///     instead of the least error of the weight, and biases make good the rest of the mean.
/// - Throws: `ConversionError` for choices that do not go together or with the package's system,
///   for weights that are not finite or beyond float16, and where nothing is left to do; an error
///   that names the file if it cannot be read or written. Nothing is written then.
public func quantizePackage(
    at source: String, to target: String, plan: QuantizationPlan, calibration: [TensorData] = []
) throws -> QuantizationReport {
    do {
        let package = try MLPackage(contentsOf: source)
        let (result, report) = try quantized(package, plan, calibration: calibration)
        try result.write(to: target)
        return report
    } catch var error as ConversionError {
        if error.file.isEmpty { error.file = source }
        throw error
    }
}

/// The package with its weights in fewer bits.
package func quantized(
    _ package: MLPackage, _ plan: QuantizationPlan, calibration: [TensorData] = []
) throws -> (package: MLPackage, report: QuantizationReport) {
    for scheme in plan.schemes { try scheme.check(package.target) }
    var quantization = PackageQuantization(package, plan)
    try quantization.run(calibration)
    let report = quantization.report
    guard !report.compressed.isEmpty else {
        throw ConversionError(
            place: "weights", rule: "none can be made smaller in this way",
            remedy: report.skipped.first.map { "For example \($0.name): \($0.reason)." }
                ?? "The package has no weights.")
    }
    return (quantization.result, report)
}

/// Makes the weights of a package smaller, one after the other.
private struct PackageQuantization {
    private let plan: QuantizationPlan
    private var rewriting: PackageRewriting
    private(set) var report = QuantizationReport()

    var result: MLPackage {
        var result = rewriting.result
        let schemes = Set(report.compressed.map(\.scheme)).sorted()
        result.description.metadata.userDefined["retint.weights"] = schemes.joined(separator: ", ")
        return result
    }

    init(_ package: MLPackage, _ plan: QuantizationPlan) {
        (rewriting, self.plan) = (PackageRewriting(package), plan)
    }

    mutating func run(_ photos: [TensorData]) throws {
        let package = rewriting.package
        let weights = package.weights
        try plan.check(weights)
        for operation in package.program.operations where operation.isConstantExpression {
            skip(operation.outputs[0], "its bits are fewer already")
        }
        var tasks: [String: (weight: PackageWeight, task: WeightTask)] = [:]
        for weight in weights {
            guard let scheme = plan.scheme(names: weight.names, type: weight.type) else {
                skip(weight.constant.outputs[0], "it is to be left alone")
                continue
            }
            switch WeightTask.make(weight, scheme) {
            case .success(let task): tasks[weight.name] = (weight, task)
            case .failure(let reason): skip(weight.constant.outputs[0], reason.text)
            }
        }
        if !photos.isEmpty {
            let calibration = try Calibration(package, photos: photos)
            try calibration.forEachWeight(among: Set(tasks.keys)) { name, parts in
                guard let (weight, task) = tasks.removeValue(forKey: name) else { return }
                let inputs = WeightInputs(
                    parts, correctsBias: rewriting.bias(of: weight) != nil)
                try replace(weight, task, inputs)
            }
        }
        for weight in weights {
            if let (_, task) = tasks[weight.name] { try replace(weight, task, nil) }
        }
    }

    private mutating func skip(_ output: MILNamedType, _ reason: String) {
        report.skipped.append(
            .init(name: output.name, shape: output.type.shape ?? [], reason: reason))
    }

    private mutating func replace(
        _ weight: PackageWeight, _ task: WeightTask, _ inputs: WeightInputs?
    ) throws {
        let values = try finite(weight)
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

    private func finite(_ weight: PackageWeight) throws -> [Float] {
        let values = try weight.value.floats()
        guard values.allSatisfy(\.isFinite) else {
            throw ConversionError(
                place: "weight \(weight.name)",
                rule: "it has NaN or infinity, which fewer bits cannot hold",
                remedy: "Export a checkpoint whose training did not diverge.")
        }
        return values
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

import TensorGraph

/// What a comparison found.
package struct VerificationReport: Sendable {
    package let model: String
    package let reference: String
    package let precision: ModelPrecision
    package let compute: ComputePrecision
    package let tolerance: Tolerance
    /// One for each output of the reference, in its order.
    package let outputs: [OutputComparison]
    /// Nil where the model is no colorizer.
    package let color: ColorDifference?

    /// What ran the model.
    package static let runtime = "retint's CPU engine (not Apple's Core ML runtime)"

    /// What is wrong with the colors as a whole.
    package var colorFailures: [String] {
        guard let bound = tolerance.meanDeltaE else { return [] }
        guard let mean = color?.mean else {
            return ["the colors cannot be compared, so their mean ΔE2000 is not known"]
        }
        return mean <= bound ? [] : ["the mean ΔE2000 \(mean) is above \(bound)"]
    }

    /// Whether something was compared and all of it holds its bounds.
    package var passed: Bool {
        !outputs.isEmpty && !tolerance.isEmpty && colorFailures.isEmpty
            && outputs.allSatisfy(\.failures.isEmpty)
    }
}

/// Runs a model on a reference's inputs and compares all outputs.
///
/// - Parameters:
///   - compute: the arithmetic; the model's own if nil.
///   - tolerance: the bounds; those of the model's precision if nil.
/// - Throws: ``VerificationError`` if inputs, outputs or shapes are not those of the reference, or
///   the model cannot be run.
package func verify(
    _ model: VerifiedModel, against reference: Reference, compute: ComputePrecision? = nil,
    tolerance: Tolerance? = nil
) throws -> VerificationReport {
    let compute = compute ?? model.computePrecision
    let tolerance = tolerance ?? .standard(model.precision, isSameNetwork: false)
    let computed = try model.run(reference.inputs, compute: compute)
    let pairs = try matchOutputs(computed, of: model.path, to: reference)
    let colors = (computed: colors(in: computed), expected: colors(in: reference.outputs))
    // A colorizer's a and b span 220, whatever the pictures at hand span.
    let peak = colors.computed == nil ? nil : 220.0
    var difference: ColorDifference?
    if let first = colors.computed, let second = colors.expected, reference.inputs.count == 1 {
        difference = try ColorDifference(
            lightness: reference.inputs[0].data, computed: first, expected: second)
    }
    return VerificationReport(
        model: model.path, reference: reference.name, precision: model.precision,
        compute: compute, tolerance: tolerance,
        outputs: pairs.map { OutputComparison($0, peak: peak, tolerance: tolerance) },
        color: difference)
}

extension Reference {
    /// What another model, run in float32, gives for lightness.
    ///
    /// - Parameter lightness: [N, 1, H, W] in 0…100.
    package init(running model: VerifiedModel, on lightness: TensorData) throws {
        let inputs = [NamedTensor("lightness", lightness)]
        try self.init(name: model.path, inputs: inputs, outputs: model.run(inputs))
    }
}

extension VerificationReport: Encodable {
    private enum CodingKeys: String, CodingKey {
        case passed, model, reference, precision, compute, runtime, tolerance, outputs
        case deltaE2000Mean, failures
        case deltaE2000P99 = "delta_e2000_p99"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(passed, forKey: .passed)
        try container.encode(model, forKey: .model)
        try container.encode(reference, forKey: .reference)
        try container.encode(precision, forKey: .precision)
        try container.encode(compute, forKey: .compute)
        try container.encode(Self.runtime, forKey: .runtime)
        try container.encode(tolerance, forKey: .tolerance)
        let named = Dictionary(outputs.map { ($0.name, $0) }) { first, _ in first }
        try container.encode(named, forKey: .outputs)
        try container.encodeIfPresent(color?.mean, forKey: .deltaE2000Mean)
        try container.encodeIfPresent(color?.percentile99, forKey: .deltaE2000P99)
        try container.encode(colorFailures, forKey: .failures)
    }
}

import Models
import TensorGraph

/// How a model is run, and the tolerances it has to meet.
public struct VerificationOptions {
    /// The arithmetic; the model's own if nil.
    public var compute: ComputePrecision?
    /// The tolerance of outputs and colors; the standard one of the model's precision if nil.
    public var tolerance: Tolerance?
    /// The tolerance of intermediate values; the standard one of the model's precision if nil.
    public var layerTolerance: LayerTolerance?
    /// Whether an intermediate value past its tolerance fails the model.
    public var layersDecide = false
    /// Called with the colors of each run once they are compared.
    public var onColors: (ColoredBatch) throws -> Void = { _ in }

    /// Creates options; each one that is nil follows from the model's precision.
    public init(
        compute: ComputePrecision? = nil, tolerance: Tolerance? = nil,
        layerTolerance: LayerTolerance? = nil
    ) {
        self.compute = compute
        self.tolerance = tolerance
        self.layerTolerance = layerTolerance
    }

    /// Creates options with all bounds.
    public init(compute: ComputePrecision? = nil, bounds: VerificationBounds) {
        self.init(
            compute: compute, tolerance: bounds.tolerance, layerTolerance: bounds.layerTolerance)
        layersDecide = bounds.layersDecide
    }
}

/// The colors that a model gives for a batch of images, beside the expected ones.
public struct ColoredBatch: Sendable {
    /// The paths of the photos, or other names of the images.
    public let labels: [String]
    /// L in 0…100, [N, 1, H, W].
    public let lightness: TensorData
    /// The model's a and b, [N, 2, H, W].
    public let computed: TensorData
    /// The expected a and b, [N, 2, H, W].
    public let expected: TensorData
    /// The CIEDE2000 difference of each pixel.
    public let differences: [Float]
}

/// Runs a model on a reference's inputs, and compares its outputs with the expected ones and its
/// intermediate values with the reference's activations.
///
/// - Throws: ``VerificationError`` if the model's inputs, outputs or shapes are not those of the
///   reference, or it cannot be run.
public func verify(
    _ model: Model, against reference: Reference, options: VerificationOptions = .init()
) throws -> VerificationReport {
    let inputs = VerificationInputs(reference, batchSize: model.batchSize)
    return try verify(
        model, against: ReferenceValues(reference), isSameNetwork: false, on: inputs, options)
}

/// Runs a model and another one on the same inputs, and compares their outputs and the intermediate
/// values with the same names.
///
/// - Parameters:
///   - model: the model to verify.
///   - other: the model that computes the expected values, in float32.
///   - inputs: the inputs of all runs; random lightness of the model's own size if nil.
/// - Throws: ``VerificationError`` if the inputs, outputs or shapes of the models differ, or one of
///   them cannot be run.
public func verify(
    _ model: Model, against other: Model, on inputs: VerificationInputs? = nil,
    options: VerificationOptions = .init()
) throws -> VerificationReport {
    let inputs = try inputs ?? .noise(shape: model.lightnessInput().shape)
    let half = try options.tolerance?.maxHalfRatio.map { _ in
        try halfPrecisionErrors(
            of: other, for: model, on: inputs,
            expected: RecordedOutputs(other, for: model, on: inputs))
    }
    return try verify(
        model, against: ModelValues(other), isSameNetwork: true, on: inputs, options,
        half: half ?? [:])
}

/// - Parameters:
///   - half: the error of the reference network in half precision by output, if a bound needs it.
///   - observes: whether intermediate values are compared.
func verify(
    _ model: Model, against expected: any ExpectedValues, isSameNetwork: Bool,
    on inputs: VerificationInputs, _ options: VerificationOptions,
    half: [String: ErrorMetrics] = [:],
    observes: Bool = true
) throws -> VerificationReport {
    let compute = options.compute ?? model.computePrecision
    let first = try inputs.input(0)
    let program = try verifying {
        try model.program(on: first.tensors, compute: compute, observes: observes)
    }
    try expected.match(program, first: first, runs: inputs.count)
    let tolerance = options.tolerance ?? .standard(model.precision, isSameNetwork: false)
    var layers = LayerGathering(program, expected: expected)
    var outputs = ComparisonGathering(
        path: model.name, source: expected.source, runs: inputs.count, tolerance: tolerance)
    for index in 0..<inputs.count {
        let input = index == 0 ? first : try inputs.input(index)
        try expected.begin(program.roundTripped(input.tensors), at: index)
        var run = try verifying { try program.start(input.tensors) }
        while let values = run.next() {
            for value in values { try layers.add(value, in: input.label) }
        }
        let computed = program.named(try run.finish())
        let colors = try outputs.add(computed, try expected.outputs(), input)
        try colors.map(options.onColors)
    }
    let layerTolerance = options.layerTolerance ?? .standard(model.precision)
    return VerificationReport(
        model: model.name, reference: expected.source, isSameNetwork: isSameNetwork,
        precision: model.precision, compute: compute, tolerance: tolerance,
        outputs: outputs.outputs.map { $0.comparison(half: half[$0.name]) },
        color: outputs.color, photos: outputs.photos,
        layers: layers.reports(layerTolerance), layerTolerance: layerTolerance,
        layersDecide: options.layersDecide)
}

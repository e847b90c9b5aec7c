import RetintAppleRuntime
import RetintFiles
import RetintGraph
import RetintRuntime
import RetintTensors

/// How a model is run, and the tolerances that it must meet.
public struct VerificationOptions {
    /// The arithmetic; nil for the model's own.
    public var compute: ComputePrecision?
    /// The tolerance of outputs and colors; nil for the default of the model's precision.
    public var tolerance: Tolerance?
    /// The tolerance of intermediate values; nil for the default of the model's precision.
    public var layerTolerance: LayerTolerance?
    /// Whether an intermediate value that exceeds its tolerance fails the model.
    public var layersDecide = false
    /// A folder `NAME.aimodelintermediates` to write with all values of the model's first run, for
    /// Apple's debugger; nil for none.
    public var intermediates: String?
    /// Called with the colors of each run after they are compared.
    public var onColors: (ColoredBatch) throws -> Void = { _ in }

    /// Creates options; nil values follow from the model's precision.
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

/// A model's colors for a batch of images, and the expected ones.
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
///   - inputs: the inputs of all runs; nil for random lightness of the model's own size.
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

/// Has Apple's runtime run a model on a reference's inputs, and compares its outputs with the
/// expected ones. The runtime shows no intermediate values.
///
/// - Throws: ``VerificationError`` if the model's inputs, outputs or shapes are not those of the
///   reference; `AppleRuntimeError` if the runtime cannot run it.
public func verify(
    _ model: AppleModel, against reference: Reference, options: VerificationOptions = .init()
) async throws -> VerificationReport {
    let inputs = VerificationInputs(reference, batchSize: model.batchSize)
    return try await verify(model, against: ReferenceValues(reference), on: inputs, options)
}

/// Has Apple's runtime run a model and retint's engine another one on the same inputs, and compares
/// their outputs.
///
/// - Parameters:
///   - model: the model to verify.
///   - other: the model that computes the expected values, in float32, by retint's engine.
///   - inputs: the inputs of all runs; nil for random lightness of the model's own size.
/// - Throws: ``VerificationError`` if the inputs, outputs or shapes of the models differ;
///   `AppleRuntimeError` if the runtime cannot run the model.
public func verify(
    _ model: AppleModel, against other: Model, on inputs: VerificationInputs? = nil,
    options: VerificationOptions = .init()
) async throws -> VerificationReport {
    let inputs = try inputs ?? .noise(shape: model.lightnessShape())
    return try await verify(model, against: ModelValues(other), on: inputs, options)
}

private func verify(
    _ model: AppleModel, against expected: any ExpectedOutputs, on inputs: VerificationInputs,
    _ options: VerificationOptions
) async throws -> VerificationReport {
    let first = try inputs.input(0)
    try expected.prepare(first: first, runs: inputs.count)
    let bounds = VerificationBounds.standard(
        model.precision, compute: nil, isSameNetwork: false)
    let tolerance = options.tolerance ?? bounds.tolerance
    var outputs = ComparisonGathering(
        path: model.path, source: expected.source, runs: inputs.count, tolerance: tolerance)
    let atOnce = runsAtOnce(first)
    for start in stride(from: 0, to: inputs.count, by: atOnce) {
        let indices = start..<min(start + atOnce, inputs.count)
        let batch = try indices.map { $0 == 0 ? first : try inputs.input($0) }
        for (index, pair) in zip(indices, zip(batch, try await model.run(batch))) {
            let (input, computed) = pair
            try expected.begin(input.tensors, at: index)
            let colors = try outputs.add(computed, try expected.outputs(), input)
            try colors.map(options.onColors)
        }
    }
    return VerificationReport(
        judge: .apple, runtime: AppleRuntime.name, model: model.path, reference: expected.source,
        isSameNetwork: false, precision: model.precision, compute: model.compute,
        tolerance: tolerance, outputs: outputs.outputs.map { $0.comparison(half: nil) },
        color: outputs.color, photos: outputs.photos, layers: [],
        layerTolerance: options.layerTolerance ?? bounds.layerTolerance, layersDecide: false)
}

/// How many runs one process of Apple's runtime makes: its start takes a second, and the inputs and
/// outputs of all its runs are in memory.
private func runsAtOnce(_ first: VerificationInput) -> Int {
    let count = first.tensors.reduce(1) { $0 + $1.data.shape.count }
    return min(32, max(1, (1 << 24) / count))
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
    guard let path = options.intermediates else {
        return try verify(
            model, against: expected, isSameNetwork: isSameNetwork, on: inputs, options, half,
            observes: observes, nil)
    }
    return try AtomicFile.replace(path, content: IntermediatesWriter.content) { folder in
        try createFolder(folder)
        return try verify(
            model, against: expected, isSameNetwork: isSameNetwork, on: inputs, options, half,
            observes: true, folder)
    }
}

/// - Parameter folder: where the values of the first run are written; nowhere if nil.
private func verify(
    _ model: Model, against expected: any ExpectedValues, isSameNetwork: Bool,
    on inputs: VerificationInputs, _ options: VerificationOptions, _ half: [String: ErrorMetrics],
    observes: Bool, _ folder: String?
) throws -> VerificationReport {
    let compute = options.compute ?? model.computePrecision
    let first = try inputs.input(0)
    let program = try verifying {
        try model.program(on: first.tensors, compute: compute, observes: observes)
    }
    try expected.prepare(first: first, runs: inputs.count)
    expected.match(program)
    let tolerance = options.tolerance ?? .standard(model.precision, isSameNetwork: false)
    var layers = LayerGathering(program, expected: expected)
    var outputs = ComparisonGathering(
        path: model.name, source: expected.source, runs: inputs.count, tolerance: tolerance)
    for index in 0..<inputs.count {
        let input = index == 0 ? first : try inputs.input(index)
        let writer =
            try index > 0
            ? nil : folder.map { try IntermediatesWriter($0, of: program, inputs: input.tensors) }
        try expected.begin(program.roundTripped(input.tensors), at: index)
        var run = try verifying { try program.start(input.tensors) }
        while let values = run.next() {
            for value in values {
                try layers.add(value, in: input.label)
                try writer?.add(value)
            }
        }
        let computed = program.named(try run.finish())
        try writer?.finish(computed)
        let colors = try outputs.add(computed, try expected.outputs(), input)
        try colors.map(options.onColors)
    }
    let layerTolerance = options.layerTolerance ?? .standard(model.precision)
    return VerificationReport(
        judge: .retint, runtime: VerificationReport.engine, model: model.name,
        reference: expected.source, isSameNetwork: isSameNetwork,
        precision: model.precision, compute: compute, tolerance: tolerance,
        outputs: outputs.outputs.map { $0.comparison(half: half[$0.name]) },
        color: outputs.color, photos: outputs.photos,
        layers: layers.reports(layerTolerance), layerTolerance: layerTolerance,
        layersDecide: options.layersDecide)
}

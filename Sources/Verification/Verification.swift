import TensorGraph

/// How a model is run, and what it must hold.
package struct VerificationOptions {
    /// The arithmetic; the model's own if nil.
    package var compute: ComputePrecision?
    /// The bounds of outputs and colors; those of the model's precision if nil.
    package var tolerance: Tolerance?
    /// The bound of what is computed on the way; that of the model's precision if nil.
    package var layerTolerance: LayerTolerance?
    /// Whether a model fails whose layers do not hold theirs.
    package var layersDecide = false
    /// Called with the colors of each run as soon as they were compared.
    package var watch: (ColoredSample) throws -> Void = { _ in }

    package init(
        compute: ComputePrecision? = nil, tolerance: Tolerance? = nil,
        layerTolerance: LayerTolerance? = nil
    ) {
        self.compute = compute
        self.tolerance = tolerance
        self.layerTolerance = layerTolerance
    }
}

/// What a colorizer made of a batch of pictures, beside what is expected.
package struct ColoredSample: Sendable {
    package let labels: [String]
    /// [N, 1, H, W], 0…100.
    package let lightness: TensorData
    /// [N, 2, H, W].
    package let computed: TensorData
    package let expected: TensorData
    /// The CIEDE2000 difference of each pixel.
    package let differences: [Float]
}

/// Runs a model on a reference's inputs and compares all outputs, and what is computed on the way
/// with the reference's activations.
///
/// - Throws: ``VerificationError`` if inputs, outputs or shapes are not those of the reference, or
///   the model cannot be run.
package func verify(
    _ model: VerifiedModel, against reference: Reference,
    options: VerificationOptions = .init()
) throws -> VerificationReport {
    let samples = Samples(reference, batchSize: model.batchSize)
    return try verify(model, against: ReferenceValues(reference), on: samples, options)
}

/// Runs a model and another one, that in float32, on the same inputs, and compares all outputs, and
/// of what they compute on the way what has the same name.
///
/// - Throws: ``VerificationError`` if inputs, outputs or shapes of the models differ, or one cannot
///   be run.
package func verify(
    _ model: VerifiedModel, against other: VerifiedModel, on samples: Samples,
    options: VerificationOptions = .init()
) throws -> VerificationReport {
    try verify(model, against: ModelValues(other), on: samples, options)
}

private func verify(
    _ model: VerifiedModel, against expected: any ExpectedValues, on samples: Samples,
    _ options: VerificationOptions
) throws -> VerificationReport {
    let compute = options.compute ?? model.computePrecision
    let first = try samples.sample(0)
    let prepared = try model.prepare(for: first.inputs, compute: compute)
    try expected.match(prepared, first: first, runs: samples.count)
    let tolerance = options.tolerance ?? .standard(model.precision, isSameNetwork: false)
    var layers = LayerGathering(prepared, expected: expected)
    var outputs = ComparisonGathering(
        path: model.path, source: expected.source, runs: samples.count, tolerance: tolerance)
    for index in 0..<samples.count {
        let sample = index == 0 ? first : try samples.sample(index)
        try expected.begin(prepared.taken(sample), at: index)
        var run = try prepared.start(sample.inputs)
        while let values = run.next() {
            for value in values { try layers.add(value, in: sample.label) }
        }
        let computed = prepared.named(try run.finish())
        let colors = try outputs.add(computed, try expected.outputs(), sample)
        try colors.map(options.watch)
    }
    let layerTolerance = options.layerTolerance ?? .standard(model.precision)
    return VerificationReport(
        model: model.path, reference: expected.source, precision: model.precision,
        compute: compute, tolerance: tolerance, outputs: outputs.outputs.map(\.comparison),
        color: outputs.color, photos: outputs.photos,
        layers: layers.reports(layerTolerance), layerTolerance: layerTolerance,
        layersDecide: options.layersDecide)
}

/// Compares outputs and colors run by run.
private struct ComparisonGathering {
    let path: String
    let source: String
    let runs: Int
    let tolerance: Tolerance
    private(set) var outputs: [OutputGathering] = []
    private var colors: ColorGathering?
    /// Whether some run had no colors to compare, so that there is no difference of all.
    private var lacksColors = false

    init(path: String, source: String, runs: Int, tolerance: Tolerance) {
        self.path = path
        self.source = source
        self.runs = runs
        self.tolerance = tolerance
    }

    /// The difference over all photos; nil where the model is no colorizer.
    var color: ColorDifference? { lacksColors ? nil : colors?.difference }

    var photos: [PhotoDifference] { colors?.photos ?? [] }

    /// - Returns: the colors, where the model is a colorizer and they are numbers.
    mutating func add(
        _ computed: [NamedTensor], _ expected: [NamedTensor], _ sample: Sample
    ) throws -> ColoredSample? {
        let pairs = try matchOutputs(computed, of: path, to: expected, of: source)
        if outputs.isEmpty {
            // A colorizer's a and b span 220, whatever the pictures at hand span.
            let peak = joinedColors(of: computed) == nil ? nil : 220.0
            outputs = pairs.map {
                OutputGathering($0, runs: runs, peak: peak, tolerance: tolerance)
            }
        }
        for (place, pair) in pairs.enumerated() { outputs[place].add(pair) }
        let colored = try ColoredSample(sample, computed, expected)
        lacksColors = lacksColors || colored == nil
        if let colored {
            let total = colored.differences.count * runs
            colors = colors ?? ColorGathering(total: total)
            colors?.add(colored.differences, of: sample.labels)
        }
        return colored
    }
}

extension ColoredSample {
    /// Nil where the model is no colorizer, or its colors are no numbers.
    fileprivate init?(
        _ sample: Sample, _ computed: [NamedTensor], _ expected: [NamedTensor]
    ) throws {
        guard sample.inputs.count == 1, let first = joinedColors(of: computed),
            let second = joinedColors(of: expected),
            let values = try colorDifferences(sample.inputs[0].data, first, second)
        else { return nil }
        labels = sample.labels
        lightness = sample.inputs[0].data
        (self.computed, self.expected) = (first, second)
        differences = values
    }
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

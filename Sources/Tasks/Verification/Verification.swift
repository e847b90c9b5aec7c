import RetintAppleRuntime
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

    /// The given bounds, and the default ones for those that are nil.
    func bounds(
        _ precision: ModelPrecision, _ expected: some ExpectedOutputs
    ) throws -> VerificationBounds {
        let standard = VerificationBounds.standard(
            precision, compute: compute, isSameNetwork: expected.isSameNetwork,
            isColorizer: try expected.isColorizer)
        return VerificationBounds(
            tolerance: tolerance ?? standard.tolerance,
            layerTolerance: layerTolerance ?? standard.layerTolerance,
            layersDecide: layersDecide
                || tolerance == nil && layerTolerance == nil && standard.layersDecide)
    }

    /// The options of a run that is not the verification itself: it shows and writes nothing.
    var forSideRun: VerificationOptions {
        var options = self
        options.onColors = { _ in }
        options.intermediates = nil
        return options
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

extension Model {
    /// Runs a model on a reference's inputs, and compares its outputs with the expected ones and
    /// its intermediate values with the reference's activations.
    ///
    /// - Throws: ``VerificationError`` if the model's inputs, outputs or shapes are not those of
    ///   the reference, or it cannot be run.
    public func verify(
        against reference: Reference, options: VerificationOptions = .init()
    ) throws -> VerificationReport {
        let inputs = VerificationInputs(
            reference, batchSize: try verifying { try batchSize })
        let expected = ReferenceValues(reference)
        let bounds = try options.bounds(precision, expected)
        // The run of a model that cannot be measured, since it overflows, says more than this.
        let half = bounds.tolerance.maxHalfRatio.flatMap { _ in
            try? halfPrecisionErrors(
                of: self, for: self, on: inputs,
                expected: RecordedOutputs(self, for: self, on: inputs))
        }
        let rounding =
            bounds.needsRounding && !convertsColors
            ? try? RoundingErrors(of: self, for: self, on: inputs) : nil
        return try VerificationRun(
            self, against: expected, on: inputs, options, half: half ?? [:],
            rounding: rounding?.outputs ?? [:]
        ).report()
    }

    /// The same without measuring what the arithmetic itself loses: bounds that are relative to
    /// that are not checked.
    func compare(
        with reference: Reference, options: VerificationOptions
    ) throws -> VerificationReport {
        let inputs = VerificationInputs(
            reference, batchSize: try verifying { try batchSize })
        return try VerificationRun(self, against: ReferenceValues(reference), on: inputs, options)
            .report()
    }

    /// Runs a model and another one on the same inputs, and compares their outputs and the
    /// intermediate values with the same names.
    ///
    /// - Parameters:
    ///   - other: the model that computes the expected values, in float32.
    ///   - inputs: the inputs of all runs; nil for random values of the model's own shapes.
    /// - Throws: ``VerificationError`` if the inputs, outputs or shapes of the models differ, or
    ///   one of them cannot be run.
    public func verify(
        against other: Model, on inputs: VerificationInputs? = nil,
        options: VerificationOptions = .init()
    ) throws -> VerificationReport {
        let (other, labels) = (try other.inLayout(of: interface), changedLabels(against: other))
        let inputs = try verifying {
            try inputs ?? .noise(for: interface, shapes: inputShapes())
        }
        let bounds = try options.bounds(precision, ModelValues(other))
        let half = try bounds.tolerance.maxHalfRatio.map { _ in
            try halfPrecisionErrors(
                of: other, for: self, on: inputs,
                expected: RecordedOutputs(other, for: self, on: inputs))
        }
        let rounding =
            bounds.needsRounding ? try RoundingErrors(of: other, for: self, on: inputs) : nil
        var report = try VerificationRun(
            self, against: ModelValues(other, rounding: rounding), on: inputs, options,
            half: half ?? [:], rounding: rounding?.outputs ?? [:]
        ).report()
        if report.bounds.judgesWeights {
            report.changedWeights = try changedWeights(against: other, on: inputs)
        }
        report.changedLabels = labels
        return report
    }
}

extension Model {
    /// A sentence about the labels of two classifiers that differ; nil if they are the same, or
    /// not listed.
    private func changedLabels(against other: Model) -> String? {
        guard let own = package?.description.classifier?.labels,
            let theirs = other.package?.description.classifier?.labels, own != theirs
        else { return nil }
        guard own.count == theirs.count else {
            return "there are \(own.count) labels instead of \(theirs.count)"
        }
        let changed = own.indices.filter { own[$0] != theirs[$0] }
        let rest = changed.count > 1 ? ", and \(changed.count - 1) others differ" : ""
        return "label \(changed[0]) is \(own[changed[0]].debugDescription) instead of "
            + theirs[changed[0]].debugDescription + rest
    }

    private func changedWeights(
        against other: Model, on inputs: VerificationInputs
    ) throws -> [VerificationReport.ChangedWeight] {
        let first = try inputs.input(0).tensors
        return try verifying {
            try ChangedWeights(
                of: graph(on: first, folds: false), against: other.graph(on: first, folds: false)
            ).found
        }
    }
}

extension AppleModel {
    /// Has Apple's runtime run a model on a reference's inputs, and compares its outputs with the
    /// expected ones. The runtime shows no intermediate values.
    ///
    /// - Throws: ``VerificationError`` if the model's inputs, outputs or shapes are not those of
    ///   the reference; `AppleRuntimeError` if the runtime cannot run it.
    public func verify(
        against reference: Reference, options: VerificationOptions = .init()
    ) async throws -> VerificationReport {
        let inputs = VerificationInputs(reference, batchSize: interface.batchSize)
        return try await verify(against: ReferenceValues(reference), on: inputs, options)
    }

    /// Has Apple's runtime run a model and retint's engine another one on the same inputs, and
    /// compares their outputs.
    ///
    /// - Parameters:
    ///   - other: the model that computes the expected values, in float32, by retint's engine.
    ///   - inputs: the inputs of all runs; nil for random values of the model's own shapes.
    /// - Throws: ``VerificationError`` if the inputs, outputs or shapes of the models differ;
    ///   `AppleRuntimeError` if the runtime cannot run the model.
    public func verify(
        against other: Model, on inputs: VerificationInputs? = nil,
        options: VerificationOptions = .init()
    ) async throws -> VerificationReport {
        let inputs = try verifying {
            try inputs
                ?? .noise(
                    for: interface(like: other), shapes: interface.inputShapes(of: path))
        }
        let other = try other.inLayout(of: interface)
        return try await verify(against: ModelValues(other), on: inputs, options)
    }

    fileprivate func verify(
        against expected: any ExpectedOutputs, on inputs: VerificationInputs,
        _ options: VerificationOptions
    ) async throws -> VerificationReport {
        let first = try inputs.input(0)
        try expected.prepare(first: first, runs: inputs.count)
        let bounds = try options.bounds(precision, expected)
        var outputs = try ComparisonGathering(
            path: path, runs: inputs.count, tolerance: bounds.tolerance, expected: expected)
        let atOnce = runsAtOnce(first)
        for start in stride(from: 0, to: inputs.count, by: atOnce) {
            let indices = start..<min(start + atOnce, inputs.count)
            let batch = try indices.map { $0 == 0 ? first : try inputs.input($0) }
            for (index, pair) in zip(indices, zip(batch, try await run(batch))) {
                let (input, computed) = pair
                try expected.begin(input.tensors, at: index)
                let colors = try outputs.add(computed, try expected.outputs(), input)
                try colors.map(options.onColors)
            }
        }
        return VerificationReport(
            judge: .apple, runtime: AppleRuntime.name, model: path, reference: expected.source,
            isSameNetwork: false, isColorizer: outputs.isColorizer, precision: precision,
            compute: compute,
            tolerance: bounds.tolerance, outputs: outputs.outputs.map { $0.comparison(half: nil) },
            color: outputs.color, photos: outputs.photos, layers: [],
            layerTolerance: bounds.layerTolerance, layersDecide: false)
    }
}

/// How many runs one process of Apple's runtime makes: its start takes a second, and the inputs and
/// outputs of all its runs are in memory.
private func runsAtOnce(_ first: VerificationInputs.Input) -> Int {
    let count = first.tensors.reduce(1) { $0 + $1.data.shape.count }
    return min(32, max(1, (1 << 24) / count))
}

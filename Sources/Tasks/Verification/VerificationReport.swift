import RetintRuntime

/// The result of comparing a model with a reference or with another model.
public struct VerificationReport: Sendable {
    /// What ran the model.
    public let judge: Judge
    /// The name of the runtime that ran the model, with its version.
    public let runtime: String
    /// The name of the model.
    public let model: String
    /// The name of the reference, or of the other model.
    public let reference: String
    /// Whether the expected values come from another model, run by the same engine, and not
    /// from a file or from another engine.
    public let isSameNetwork: Bool
    /// Whether the outputs are a and b, so that there are bounds on colors.
    public let isColorizer: Bool
    /// The precision of the model's weights.
    public let precision: ModelPrecision
    /// The arithmetic that the model was run with.
    public let compute: ComputePrecision
    /// The bounds on outputs and colors.
    public let tolerance: Tolerance
    /// The comparison of each output of the reference, in its order.
    public let outputs: [VerificationReport.Output]
    /// The color difference over all photos; nil if the model is not a colorizer.
    public let color: VerificationReport.ColorDifference?
    /// The color difference of each photo; photos whose colors are NaN or infinite are missing.
    public let photos: [VerificationReport.PhotoDifference]
    /// All intermediate values and outputs of the model, in the order of computation.
    public let layers: [VerificationReport.Layer]
    /// The bounds on intermediate values.
    public let layerTolerance: LayerTolerance
    /// Whether a layer that exceeds its tolerance fails the model.
    public let layersDecide: Bool
    /// Weights that are those of another model in most of their elements, but not in all; looked
    /// for where bounds follow from what float32 loses.
    public var changedWeights: [VerificationReport.ChangedWeight] = []
    /// A sentence if the labels of a classifier are not those of the other model: equal numbers
    /// then mean something else.
    public var changedLabels: String?
    /// Where errors come from, as far as requested.
    public var diagnosis = VerificationReport.Diagnosis()

    /// The name of retint's own engine in reports.
    static let engine = "retint's CPU engine (not Apple's Core ML runtime)"
    /// Its name on a GPU.
    static let gpuEngine = "retint's CUDA backend (not Apple's Core ML runtime)"

    /// A sentence for each violated bound on the colors; empty if they pass.
    public var colorFailures: [String] {
        guard let bound = tolerance.meanDeltaE else { return [] }
        guard let mean = color?.mean else {
            return ["the colors cannot be compared, so their mean ΔE2000 is unknown"]
        }
        return failure("the mean ΔE2000", mean, above: bound).map { [$0] } ?? []
    }

    /// A sentence about intermediate values that exceed their tolerance; empty if there are none,
    /// or if ``layersDecide`` is false.
    public var layerFailures: [String] {
        guard layersDecide else { return [] }
        guard comparedCount > 0 || decidesByCertainty else {
            return ["no intermediate value could be compared"]
        }
        let count = decidingLayers.count { $0.error?.holds == false }
        guard count > 0 else { return [] }
        return [
            "\(count) intermediate \(count == 1 ? "value is" : "values are") outside the tolerance"
        ]
    }

    /// A sentence for each weight that was changed.
    public var weightFailures: [String] { changedWeights.map(\.failure) }

    /// A sentence if a search found an input on which the model has NaN or infinity; empty if none
    /// was found, or that was not requested.
    public var certificateFailures: [String] {
        diagnosis.certificate?.failure.map { [$0] } ?? []
    }

    private var certificateChecks: [VerificationCheck] {
        guard let certificate = diagnosis.certificate else { return [] }
        return [VerificationCheck(.certificate, "all inputs", certificate.failure)]
    }

    /// Whether only values that certainly belong together can fail the model: so it is where the
    /// tolerance was not chosen, but follows from what float32 loses.
    private var decidesByCertainty: Bool { layerTolerance.maxRoundingRatio != nil }

    /// The compared values that can fail the model.
    private var decidingLayers: [VerificationReport.Layer] {
        guard layersDecide else { return [] }
        return layers.indices.filter { index in
            guard let error = layers[index].error else { return false }
            return !decidesByCertainty || error.isCertain || isWrongAlone(index)
        }.map { layers[$0] }
    }

    /// Whether a value that was paired by its name, its values or its place is off, although what
    /// it is computed from is as exact as float32. It has to be nearly the expected one and what
    /// uses it off as well, because it might be another value, such as one before a bias; errors
    /// below 1e-5 are those of constants such as an epsilon that converters add.
    private func isWrongAlone(_ index: Int) -> Bool {
        guard let error = layers[index].error, error.isNearlyEqual, !error.holds else {
            return false
        }
        let isComputedRight = nearestCompared(before: index, in: layers).allSatisfy {
            layers[$0].error?.roundingRatio.map { $0 <= 1 } ?? false
        }
        return isComputedRight
            && layers.indices.contains { user in
                layers[user].error?.holds == false
                    && nearestCompared(before: user, in: layers).contains(index)
            }
    }

    /// Every bound that can fail the model, on outputs, colors, weights and intermediate values.
    public var checks: [VerificationCheck] {
        outputs.flatMap(\.checks) + colorChecks
            + changedWeights.map { VerificationCheck(.weight, $0.layer, $0.failure) } + layerChecks
            + certificateChecks + labelFailures.map { VerificationCheck(.labels, "labels", $0) }
    }

    /// ``changedLabels``, if there are any.
    public var labelFailures: [String] { changedLabels.map { [$0] } ?? [] }

    private var colorChecks: [VerificationCheck] {
        guard tolerance.meanDeltaE != nil else { return [] }
        return [VerificationCheck(.meanDeltaE, "colors", colorFailures.first)]
    }

    private var layerChecks: [VerificationCheck] {
        guard layersDecide else { return [] }
        guard comparedCount > 0 || decidesByCertainty else {
            let rule = layerTolerance.minSNR == nil ? VerificationRule.layerError : .layerSNR
            return [VerificationCheck(rule, "intermediate values", layerFailures.first)]
        }
        return decidingLayers.flatMap {
            $0.error?.checks(layerTolerance, of: $0.value.name) ?? []
        }
    }

    /// A sentence for each bound that is exceeded; those of outputs begin with their names.
    public var failures: [String] {
        outputs.flatMap { output in output.failures.map { "\(output.name): \($0)" } }
            + colorFailures + weightFailures + layerFailures + certificateFailures
            + labelFailures
    }

    /// Whether at least one output was compared and every bound is met.
    public var passed: Bool {
        !outputs.isEmpty && !tolerance.isEmpty && failures.isEmpty
    }

    /// The number of intermediate values that were compared.
    public var comparedCount: Int { layers.count { $0.error != nil } }

    /// The first intermediate value that exceeds the tolerance; nil if all are within.
    public var firstDeparture: VerificationReport.FirstDeparture? {
        VerificationReport.FirstDeparture(in: layers)
    }

    /// The index in ``layers`` of the first value with a NaN or an infinity; nil if all are finite.
    public var firstNonFinite: Int? { layers.firstIndex { $0.range.nonFinite != nil } }

    /// The indices in ``layers`` of the values with the largest magnitudes, the largest first.
    ///
    /// - Parameter count: the number of indices to return at most.
    public func largestValues(_ count: Int) -> [Int] {
        // The integers of quantized values are not numbers that a device holds as floats.
        let sorted = layers.indices.filter { layers[$0].value.operation != "quantize" }.sorted {
            (layers[$0].range.largest, $1) > (layers[$1].range.largest, $0)
        }
        return Array(sorted.prefix(count))
    }

    /// The indices in ``layers`` of the compared values with the lowest SNR, the lowest first.
    /// Values with NaN or infinity come before all others.
    ///
    /// - Parameter count: the number of indices to return at most.
    public func worstValues(_ count: Int) -> [Int] {
        func rank(_ index: Int) -> Double {
            layers[index].error.map { $0.snr.isNaN ? -.infinity : $0.snr } ?? .infinity
        }
        let compared = layers.indices.filter { layers[$0].error != nil }
        return Array(compared.sorted { (rank($0), $0) < (rank($1), $1) }.prefix(count))
    }

    /// The photo with the largest mean color difference; nil if no photo was compared.
    public var worstPhoto: VerificationReport.PhotoDifference? {
        photos.max { $0.difference.mean < $1.difference.mean }
    }
}

// What was measured, and the bounds; the judgement follows from both.
extension VerificationReport: Codable {
    private enum CodingKeys: String, CodingKey {
        case judge, runtime, model, reference, isSameNetwork, isColorizer, precision, compute
        case tolerance, layerTolerance, layersDecide, outputs, photos, layers
        case changedWeights, changedLabels
        case color = "deltaE2000"
    }

    /// Decodes a report, and judges its figures by its bounds.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys) throws -> Value {
            try container.decode(Value.self, forKey: key)
        }
        judge = try value(.judge)
        runtime = try value(.runtime)
        model = try value(.model)
        reference = try value(.reference)
        isSameNetwork = try value(.isSameNetwork)
        // Older versions compared colors alone with models.
        isColorizer = try container.decodeIfPresent(Bool.self, forKey: .isColorizer) ?? true
        precision = try value(.precision)
        compute = try value(.compute)
        let (tolerance, layerTolerance): (Tolerance, LayerTolerance) = (
            try value(.tolerance), try value(.layerTolerance)
        )
        (self.tolerance, self.layerTolerance) = (tolerance, layerTolerance)
        layersDecide = try value(.layersDecide)
        let measured: [VerificationReport.Output] = try value(.outputs)
        outputs = measured.map { $0.judged(by: tolerance) }
        color = try container.decodeIfPresent(
            VerificationReport.ColorDifference.self, forKey: .color)
        photos = try value(.photos)
        let values: [VerificationReport.Layer] = try value(.layers)
        layers = values.map { $0.judged(by: layerTolerance) }
        changedWeights =
            try container.decodeIfPresent([ChangedWeight].self, forKey: .changedWeights) ?? []
        changedLabels = try container.decodeIfPresent(String.self, forKey: .changedLabels)
        diagnosis = try VerificationReport.Diagnosis(from: decoder).judged(by: tolerance)
    }

    /// Encodes what was measured, and the bounds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(judge, forKey: .judge)
        try container.encode(runtime, forKey: .runtime)
        try container.encode(model, forKey: .model)
        try container.encode(reference, forKey: .reference)
        try container.encode(isSameNetwork, forKey: .isSameNetwork)
        // As older versions read and wrote it.
        if !isColorizer { try container.encode(isColorizer, forKey: .isColorizer) }
        try container.encode(precision, forKey: .precision)
        try container.encode(compute, forKey: .compute)
        try container.encode(tolerance, forKey: .tolerance)
        try container.encode(layerTolerance, forKey: .layerTolerance)
        try container.encode(layersDecide, forKey: .layersDecide)
        try container.encode(outputs, forKey: .outputs)
        try container.encodeIfPresent(color, forKey: .color)
        try container.encode(photos, forKey: .photos)
        try container.encode(layers, forKey: .layers)
        if !changedWeights.isEmpty { try container.encode(changedWeights, forKey: .changedWeights) }
        try container.encodeIfPresent(changedLabels, forKey: .changedLabels)
        try diagnosis.encode(to: encoder)
    }
}

import RetintRuntime

// Encode with `convertToSnakeCase`: the key `maxAbsError` becomes `max_abs_error`.
extension VerificationReport: Encodable {
    private enum CodingKeys: String, CodingKey {
        case passed, judge, model, reference, precision, compute, runtime, tolerance, outputs
        case deltaE2000Mean, failures, photos, worstPhoto, layers, layerTolerance
        case layersCompared, firstPastTolerance, firstNonFinite, largestValue
        case stages, firstFailingStage, errorSources, precisionSearch, reduction
        case deltaE2000P99 = "delta_e2000_p99"
    }

    /// Encodes the measurements and the verdict.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(passed, forKey: .passed)
        try container.encode(judge, forKey: .judge)
        try container.encode(model, forKey: .model)
        try container.encode(reference, forKey: .reference)
        try container.encode(precision, forKey: .precision)
        try container.encode(compute, forKey: .compute)
        try container.encode(runtime, forKey: .runtime)
        try container.encode(tolerance, forKey: .tolerance)
        try container.encode(byName(outputs), forKey: .outputs)
        try container.encodeIfPresent(color?.mean, forKey: .deltaE2000Mean)
        try container.encodeIfPresent(color?.percentile99, forKey: .deltaE2000P99)
        try container.encode(photos, forKey: .photos)
        try container.encodeIfPresent(worstPhoto?.photo, forKey: .worstPhoto)
        try container.encode(colorFailures + layerFailures, forKey: .failures)
        try encodeLayers(to: &container)
        try encodeDiagnosis(to: &container)
    }

    private func encodeDiagnosis(
        to container: inout KeyedEncodingContainer<CodingKeys>
    ) throws {
        if !diagnosis.stages.isEmpty {
            try container.encode(diagnosis.stages.map { StageObject($0) }, forKey: .stages)
        }
        try container.encodeIfPresent(diagnosis.firstFailingStage, forKey: .firstFailingStage)
        try container.encodeIfPresent(
            diagnosis.errorSources.map { SourcesObject($0) }, forKey: .errorSources)
        try container.encodeIfPresent(diagnosis.precisionSearch, forKey: .precisionSearch)
        try container.encodeIfPresent(diagnosis.reduction, forKey: .reduction)
    }

    private func encodeLayers(to container: inout KeyedEncodingContainer<CodingKeys>) throws {
        func name(_ index: Int) -> String { layers[index].value.name }
        try container.encode(
            layers.map { LayerObject($0, inputs: $0.value.inputs.map(name)) }, forKey: .layers)
        try container.encode(layerTolerance, forKey: .layerTolerance)
        try container.encode(comparedCount, forKey: .layersCompared)
        let departure = firstDeparture.map {
            Departure(layer: name($0.layer), comparedInputs: $0.inputs.map(name))
        }
        try container.encodeIfPresent(departure, forKey: .firstPastTolerance)
        try container.encodeIfPresent(firstNonFinite.map(name), forKey: .firstNonFinite)
        try container.encodeIfPresent(largestValues(1).first.map(name), forKey: .largestValue)
    }
}

private func byName(_ outputs: [OutputComparison]) -> [String: OutputComparison] {
    Dictionary(outputs.map { ($0.name, $0) }) { first, _ in first }
}

private struct StageObject: Encodable {
    let stage: VerificationStage
    let withinTolerance: Bool
    let outputs: [String: OutputComparison]

    init(_ comparison: StageComparison) {
        (stage, withinTolerance) = (comparison.stage, comparison.isWithin)
        outputs = byName(comparison.outputs)
    }
}

private struct SourcesObject: Encodable {
    let weights: [String: OutputComparison]
    let arithmetic: [String: OutputComparison]
    /// The share of the weights in the noise power, by output.
    let weightShare: [String: Double]
    let tensors: [ErrorSources.Tensor]

    init(_ sources: ErrorSources) {
        (weights, arithmetic) = (byName(sources.weights), byName(sources.arithmetic))
        tensors = sources.tensors
        let shares = sources.weights.enumerated().compactMap { index, output in
            sources.weightShare(of: index).map { (output.name, $0) }
        }
        weightShare = Dictionary(shares) { first, _ in first }
    }
}

private struct Departure: Encodable {
    let layer: String
    let comparedInputs: [String]
}

/// An intermediate value as one flat object.
private struct LayerObject: Encodable {
    let name: String
    let operation: String
    let shape: [Int]
    let inputs: [String]
    let maxAbsValue: Double
    let shareOfFloat16Range: Double
    let nonFinite: NonFinite?
    let nonFiniteIn: String?
    let comparedWith: String?
    let maxAbsError: Double?
    let meanAbsError: Double?
    let relativeError: Double?
    let psnrDb: Double?
    let snrDb: Double?
    let cosine: Double?
    let withinTolerance: Bool?

    init(_ report: LayerReport, inputs: [String]) {
        (name, operation) = (report.value.name, report.value.operation)
        shape = report.value.shape.dimensions
        self.inputs = inputs
        maxAbsValue = report.range.largest
        shareOfFloat16Range = report.range.shareOfHalf
        (nonFinite, nonFiniteIn) = (report.range.nonFinite, report.range.nonFiniteIn)
        let error = report.error
        comparedWith = error?.expected
        (maxAbsError, meanAbsError) = (error?.maxAbs, error?.meanAbs)
        relativeError = error?.relative
        (psnrDb, snrDb, cosine) = (error?.psnr, error?.snr, error?.cosine)
        withinTolerance = error?.holds
    }
}

extension PhotoDifference: Encodable {
    private enum CodingKeys: String, CodingKey {
        case photo, deltaE2000Mean
        case deltaE2000P99 = "delta_e2000_p99"
    }

    /// Encodes the photo and its difference as one flat object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(photo, forKey: .photo)
        try container.encode(difference.mean, forKey: .deltaE2000Mean)
        try container.encode(difference.percentile99, forKey: .deltaE2000P99)
    }
}

extension OutputComparison: Encodable {
    private enum CodingKeys: String, CodingKey {
        case shape, maxAbsError, meanAbsError, maxRelativeError, psnrDb, snrDb, cosine, peak
        case nonFinite, failures, halfPrecision, halfRatio
        case percentile99 = "p99_abs_error"
    }

    /// Encodes the comparison as one flat object, without the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(shape, forKey: .shape)
        try container.encode(metrics.maxAbs, forKey: .maxAbsError)
        try container.encode(metrics.meanAbs, forKey: .meanAbsError)
        try container.encode(metrics.percentile99, forKey: .percentile99)
        try container.encode(metrics.maxRelative, forKey: .maxRelativeError)
        try container.encode(metrics.psnr, forKey: .psnrDb)
        try container.encode(metrics.snr, forKey: .snrDb)
        try container.encode(metrics.cosine, forKey: .cosine)
        try container.encode(peak, forKey: .peak)
        try container.encodeIfPresent(nonFinite, forKey: .nonFinite)
        try container.encodeIfPresent(half.map { HalfObject($0) }, forKey: .halfPrecision)
        try container.encodeIfPresent(halfRatio, forKey: .halfRatio)
        try container.encode(failures, forKey: .failures)
    }
}

/// The error of the reference network's own run in half precision.
private struct HalfObject: Encodable {
    let maxAbsError: Double
    let meanAbsError: Double
    let psnrDb: Double
    let snrDb: Double

    init(_ metrics: ErrorMetrics) {
        (maxAbsError, meanAbsError) = (metrics.maxAbs, metrics.meanAbs)
        (psnrDb, snrDb) = (metrics.psnr, metrics.snr)
    }
}

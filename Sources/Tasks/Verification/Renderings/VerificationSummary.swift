import RetintRuntime

/// The figures and the verdict of a verification for other programs: what `retint verify --json`
/// prints.
///
/// Encode it with `convertToSnakeCase`: the key `maxAbsError` becomes `max_abs_error`.
public struct VerificationSummary: Encodable {
    private let results: VerificationResults

    /// The summary of results.
    public init(_ results: VerificationResults) { self.results = results }

    private enum CodingKeys: String, CodingKey {
        case passed, judges, missing
    }

    /// Encodes the figures and the verdict: of one judge as an object, of several as a list.
    public func encode(to encoder: any Encoder) throws {
        let reports = results.reports.map { ReportObject(report: $0) }
        if reports.count == 1, results.missing.isEmpty { return try reports[0].encode(to: encoder) }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(results.passed, forKey: .passed)
        try container.encode(reports, forKey: .judges)
        try container.encode(results.missing, forKey: .missing)
    }
}

/// What one judge found.
private struct ReportObject: Encodable {
    let report: VerificationReport

    private enum CodingKeys: String, CodingKey {
        case passed, judge, model, reference, precision, compute, runtime, tolerance, outputs
        case deltaE2000Mean, failures, photos, worstPhoto, layers, layerTolerance
        case layersCompared, firstPastTolerance, firstNonFinite, largestValue
        case changedWeights, stages, firstFailingStage, errorSources, precisionSearch, reduction
        case arithmetics, certificate
        case deltaE2000P99 = "delta_e2000_p99"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(report.passed, forKey: .passed)
        try container.encode(report.judge, forKey: .judge)
        try container.encode(report.model, forKey: .model)
        try container.encode(report.reference, forKey: .reference)
        try container.encode(report.precision, forKey: .precision)
        try container.encode(report.compute, forKey: .compute)
        try container.encode(report.runtime, forKey: .runtime)
        try container.encode(report.tolerance, forKey: .tolerance)
        try container.encode(byName(report.outputs), forKey: .outputs)
        try container.encodeIfPresent(report.color?.mean, forKey: .deltaE2000Mean)
        try container.encodeIfPresent(report.color?.percentile99, forKey: .deltaE2000P99)
        try container.encode(report.photos.map { PhotoObject($0) }, forKey: .photos)
        try container.encodeIfPresent(report.worstPhoto?.photo, forKey: .worstPhoto)
        try container.encode(report.failures, forKey: .failures)
        if !report.changedWeights.isEmpty {
            try container.encode(report.changedWeights, forKey: .changedWeights)
        }
        try encodeLayers(to: &container)
        try encodeDiagnosis(to: &container)
    }

    private func encodeDiagnosis(
        to container: inout KeyedEncodingContainer<CodingKeys>
    ) throws {
        let diagnosis = report.diagnosis
        if !diagnosis.stages.isEmpty {
            try container.encode(diagnosis.stages.map { StageObject($0) }, forKey: .stages)
        }
        try container.encodeIfPresent(diagnosis.firstFailingStage, forKey: .firstFailingStage)
        try container.encodeIfPresent(
            diagnosis.errorSources.map { SourcesObject($0) }, forKey: .errorSources)
        try container.encodeIfPresent(diagnosis.precisionSearch, forKey: .precisionSearch)
        try container.encodeIfPresent(diagnosis.reduction, forKey: .reduction)
        try container.encodeIfPresent(
            diagnosis.arithmetics.map { ArithmeticsObject(survey: $0) }, forKey: .arithmetics)
        try container.encodeIfPresent(
            diagnosis.certificate.map { CertificateObject(certificate: $0) }, forKey: .certificate)
    }

    private func encodeLayers(to container: inout KeyedEncodingContainer<CodingKeys>) throws {
        let layers = report.layers
        func name(_ index: Int) -> String { layers[index].value.name }
        try container.encode(
            layers.map { LayerObject($0, inputs: $0.value.inputs.map(name)) }, forKey: .layers)
        try container.encode(report.layerTolerance, forKey: .layerTolerance)
        try container.encode(report.comparedCount, forKey: .layersCompared)
        let departure = report.firstDeparture.map {
            Departure(layer: name($0.layer), comparedInputs: $0.inputs.map(name))
        }
        try container.encodeIfPresent(departure, forKey: .firstPastTolerance)
        try container.encodeIfPresent(report.firstNonFinite.map(name), forKey: .firstNonFinite)
        try container.encodeIfPresent(
            report.largestValues(1).first.map(name), forKey: .largestValue)
    }
}

private func byName(_ outputs: [VerificationReport.Output]) -> [String: OutputObject] {
    Dictionary(outputs.map { ($0.name, OutputObject(output: $0)) }) { first, _ in first }
}

private struct StageObject: Encodable {
    let stage: VerificationReport.Stage
    let withinTolerance: Bool
    let outputs: [String: OutputObject]

    init(_ comparison: VerificationReport.StageComparison) {
        (stage, withinTolerance) = (comparison.stage, comparison.isWithin)
        outputs = byName(comparison.outputs)
    }
}

private struct SourcesObject: Encodable {
    let weights: [String: OutputObject]
    let arithmetic: [String: OutputObject]
    /// The share of the weights in the noise power, by output.
    let weightShare: [String: Double]
    let tensors: [VerificationReport.ErrorSources.Tensor]

    init(_ sources: VerificationReport.ErrorSources) {
        (weights, arithmetic) = (byName(sources.weights), byName(sources.arithmetic))
        tensors = sources.tensors
        let shares = sources.weights.enumerated().compactMap { index, output in
            sources.weightShare(of: index).map { (output.name, $0) }
        }
        weightShare = Dictionary(shares) { first, _ in first }
    }
}

private struct ArithmeticsObject: Encodable {
    let survey: VerificationReport.ArithmeticSurvey

    private enum CodingKeys: String, CodingKey {
        case seed, count, passed, share, interval95, worst, fragile, outputs, layers, trials
    }

    func encode(to encoder: any Encoder) throws {
        let (passing, interval) = (survey.passing, survey.passing.interval())
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(survey.seed, forKey: .seed)
        try container.encode(passing.count, forKey: .count)
        try container.encode(passing.passed, forKey: .passed)
        try container.encode(passing.share, forKey: .share)
        try container.encode([interval.lowerBound, interval.upperBound], forKey: .interval95)
        try container.encodeIfPresent(survey.worst, forKey: .worst)
        try container.encode(survey.fragile.map { FragileObject($0) }, forKey: .fragile)
        try container.encode(survey.outputs, forKey: .outputs)
        try container.encode(survey.layers, forKey: .layers)
        try container.encode(survey.trials, forKey: .trials)
    }
}

private struct CertificateObject: Encodable {
    let certificate: VerificationReport.Certificate

    private enum CodingKeys: String, CodingKey { case shown }

    func encode(to encoder: any Encoder) throws {
        try certificate.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(certificate.isShown, forKey: .shown)
    }
}

private struct FragileObject: Encodable {
    let name: String
    let operation: String
    let operandDigits: Double
    let digits: Double
    let lostDigits: Double
    let outputDigits: Double

    init(_ fragile: VerificationReport.ArithmeticSurvey.FragileOperation) {
        (name, operation) = (fragile.name, fragile.operation)
        (operandDigits, digits) = (fragile.operandDigits, fragile.digits)
        (lostDigits, outputDigits) = (fragile.lostDigits, fragile.outputDigits)
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
    let pairedBy: VerificationReport.Pairing?
    let maxAbsError: Double?
    let meanAbsError: Double?
    let relativeError: Double?
    let psnrDb: Double?
    let snrDb: Double?
    let cosine: Double?
    let roundingRatio: Double?
    let withinTolerance: Bool?

    init(_ report: VerificationReport.Layer, inputs: [String]) {
        (name, operation) = (report.value.name, report.value.operation)
        shape = report.value.shape.dimensions
        self.inputs = inputs
        maxAbsValue = report.range.largest
        shareOfFloat16Range = report.range.shareOfHalf
        (nonFinite, nonFiniteIn) = (report.range.nonFinite, report.range.nonFiniteIn)
        let error = report.error
        (comparedWith, pairedBy) = (error?.expected, error?.pairing)
        (maxAbsError, meanAbsError) = (error?.maxAbs, error?.meanAbs)
        relativeError = error?.relative
        (psnrDb, snrDb, cosine) = (error?.psnr, error?.snr, error?.cosine)
        roundingRatio = error?.roundingRatio
        withinTolerance = error?.holds
    }
}

/// A photo and its difference as one flat object.
private struct PhotoObject: Encodable {
    let photo: String
    let deltaE2000Mean: Double
    let deltaE2000P99: Double

    private enum CodingKeys: String, CodingKey {
        case photo, deltaE2000Mean
        case deltaE2000P99 = "delta_e2000_p99"
    }

    init(_ photo: VerificationReport.PhotoDifference) {
        self.photo = photo.photo
        (deltaE2000Mean, deltaE2000P99) = (photo.difference.mean, photo.difference.percentile99)
    }
}

/// An output as one flat object, without its name.
private struct OutputObject: Encodable {
    let output: VerificationReport.Output

    private enum CodingKeys: String, CodingKey {
        case shape, maxAbsError, meanAbsError, maxRelativeError, psnrDb, snrDb, cosine, peak
        case nonFinite, failures, halfPrecision, halfRatio, float32Rounding, roundingRatio
        case percentile99 = "p99_abs_error"
    }

    func encode(to encoder: any Encoder) throws {
        let metrics = output.metrics
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(output.shape, forKey: .shape)
        try container.encode(metrics.maxAbs, forKey: .maxAbsError)
        try container.encode(metrics.meanAbs, forKey: .meanAbsError)
        try container.encode(metrics.percentile99, forKey: .percentile99)
        try container.encode(metrics.maxRelative, forKey: .maxRelativeError)
        try container.encode(metrics.psnr, forKey: .psnrDb)
        try container.encode(metrics.snr, forKey: .snrDb)
        try container.encode(metrics.cosine, forKey: .cosine)
        try container.encode(output.peak, forKey: .peak)
        try container.encodeIfPresent(output.nonFinite, forKey: .nonFinite)
        try container.encodeIfPresent(
            output.half.map { ArithmeticObject($0) }, forKey: .halfPrecision)
        try container.encodeIfPresent(output.halfRatio, forKey: .halfRatio)
        try container.encodeIfPresent(
            output.rounding.map { ArithmeticObject($0) }, forKey: .float32Rounding)
        try container.encodeIfPresent(output.roundingRatio, forKey: .roundingRatio)
        try container.encode(output.failures, forKey: .failures)
    }
}

/// The error that an arithmetic alone causes in the reference network.
private struct ArithmeticObject: Encodable {
    let maxAbsError: Double
    let meanAbsError: Double
    let psnrDb: Double
    let snrDb: Double

    init(_ metrics: VerificationReport.ErrorMetrics) {
        (maxAbsError, meanAbsError) = (metrics.maxAbs, metrics.meanAbs)
        (psnrDb, snrDb) = (metrics.psnr, metrics.snr)
    }
}

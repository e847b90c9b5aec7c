import Foundation
import RetintGraph
import RetintRuntime
import RetintTensors

/// ``VerificationResults`` as stored in a file, with keys in snake_case.
struct ResultsFile: Codable {
    private static let format = "retint verification"
    private static let version = 2

    /// The part that shows whether this version of retint can read the rest.
    private struct Head: Codable {
        let format: String
        let version: Int
    }

    struct Output: Codable {
        let name: String
        let shape: [Int]
        let metrics: ErrorMetrics
        let peak: Double
        let nonFinite: NonFinite?
        let half: ErrorMetrics?
        let decidingErrors: [ErrorFrontier.Point]
    }

    struct Photo: Codable {
        let photo: String
        let deltaE2000: ColorDifference
    }

    struct Stage: Codable {
        let stage: VerificationStage
        let outputs: [Output]
    }

    struct Sources: Codable {
        let weights: [Output]
        let arithmetic: [Output]
        let tensors: [ErrorSources.Tensor]
    }

    struct Layer: Codable {
        let name: String
        let operation: String
        let module: String
        let node: String?
        let shape: [Int]
        let inputs: [Int]
        let range: ValueRange
        let error: LayerError?
    }

    /// The measurements of one runtime.
    struct Report: Codable {
        let judge: Judge
        let runtime: String
        let model: String
        let reference: String
        let isSameNetwork: Bool
        let precision: ModelPrecision
        let compute: ComputePrecision
        let tolerance: Tolerance
        let layerTolerance: LayerTolerance
        let layersDecide: Bool
        let outputs: [Output]
        let deltaE2000: ColorDifference?
        let photos: [Photo]
        let layers: [Layer]
        let stages: [Stage]?
        let errorSources: Sources?
        let precisionSearch: PrecisionSearch.Summary?
        let reduction: PackageReduction.Summary?
    }

    let format: String
    let version: Int
    let environment: VerificationEnvironment
    let judges: [Report]
    let missing: [MissingJudge]
}

// MARK: Writing

extension ResultsFile {
    init(_ results: VerificationResults) {
        format = Self.format
        version = Self.version
        environment = results.environment
        judges = results.reports.map { Report($0) }
        missing = results.missing
    }

    func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }
}

extension ResultsFile.Report {
    fileprivate init(_ report: VerificationReport) {
        judge = report.judge
        runtime = report.runtime
        model = report.model
        reference = report.reference
        isSameNetwork = report.isSameNetwork
        precision = report.precision
        compute = report.compute
        tolerance = report.tolerance
        layerTolerance = report.layerTolerance
        layersDecide = report.layersDecide
        outputs = report.outputs.map { ResultsFile.Output($0) }
        deltaE2000 = report.color
        photos = report.photos.map { ResultsFile.Photo(photo: $0.photo, deltaE2000: $0.difference) }
        layers = report.layers.map { ResultsFile.Layer($0) }
        let diagnosis = report.diagnosis
        stages =
            diagnosis.stages.isEmpty
            ? nil
            : diagnosis.stages.map {
                ResultsFile.Stage(
                    stage: $0.stage, outputs: $0.outputs.map { ResultsFile.Output($0) })
            }
        errorSources = diagnosis.errorSources.map { sources in
            ResultsFile.Sources(
                weights: sources.weights.map { ResultsFile.Output($0) },
                arithmetic: sources.arithmetic.map { ResultsFile.Output($0) },
                tensors: sources.tensors)
        }
        (precisionSearch, reduction) = (diagnosis.precisionSearch, diagnosis.reduction)
    }
}

extension ResultsFile.Output {
    fileprivate init(_ output: OutputComparison) {
        self.init(
            name: output.name, shape: output.shape, metrics: output.metrics, peak: output.peak,
            nonFinite: output.nonFinite, half: output.half, decidingErrors: output.frontier.points)
    }
}

extension ResultsFile.Layer {
    fileprivate init(_ layer: LayerReport) {
        let value = layer.value
        self.init(
            name: value.name, operation: value.operation, module: value.module, node: value.node,
            shape: value.shape.dimensions, inputs: value.inputs, range: layer.range,
            error: layer.error)
    }
}

// MARK: Reading

extension ResultsFile {
    /// - Throws: ``VerificationError`` if the bytes are not results of this version, or a key is
    ///   missing or has a value of another type.
    init(_ bytes: [UInt8], path: String) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        let data = Data(bytes)
        do {
            let head = try? decoder.decode(Head.self, from: data)
            if let head, head.format == Self.format, head.version != Self.version {
                throw VerificationError(
                    .badResults, path: path, place: "version",
                    "is \(head.version), but this retint reads \(Self.version); verify again and "
                        + "save the results")
            }
            self = try decoder.decode(Self.self, from: data)
        } catch let error as DecodingError {
            throw VerificationError(error, path: path)
        }
        guard format == Self.format else {
            throw VerificationError(
                .badResults, path: path, place: "format",
                "must be \"\(Self.format)\"; name a file that retint verify --save has written")
        }
    }

    /// - Throws: ``VerificationError`` if a value is out of range.
    func results(_ check: ResultsCheck) throws -> VerificationResults {
        try check.require(!judges.isEmpty, "judges", "must have at least one judge")
        let reports = try judges.enumerated().map { index, report in
            try report.report(check.within("judges[\(index)]"))
        }
        return VerificationResults(reports, missing: missing, environment: environment)
    }
}

extension ResultsFile.Report {
    fileprivate func report(_ check: ResultsCheck) throws -> VerificationReport {
        try check(tolerance, layerTolerance)
        try check.require(!outputs.isEmpty, "outputs", "must have at least one output")
        try deltaE2000.map { try check($0, "delta_e2000") }
        for (index, photo) in photos.enumerated() {
            try check(photo.deltaE2000, "photos[\(index)].delta_e2000")
        }
        return VerificationReport(
            judge: judge, runtime: runtime, model: model, reference: reference,
            isSameNetwork: isSameNetwork, precision: precision, compute: compute,
            tolerance: tolerance, outputs: try comparisons(outputs, "outputs", check, tolerance),
            color: deltaE2000,
            photos: photos.map { PhotoDifference(photo: $0.photo, difference: $0.deltaE2000) },
            layers: try layers.indices.map { try layer($0, check) },
            layerTolerance: layerTolerance, layersDecide: layersDecide,
            diagnosis: try diagnosis(check))
    }

    private func comparisons(
        _ outputs: [ResultsFile.Output], _ place: String, _ check: ResultsCheck,
        _ tolerance: Tolerance
    ) throws -> [OutputComparison] {
        try outputs.enumerated().map { index, output in
            let frontier = try check(output, "\(place)[\(index)]")
            return OutputComparison(
                name: output.name, shape: output.shape, metrics: output.metrics, peak: output.peak,
                nonFinite: output.nonFinite, half: output.half, frontier: frontier,
                tolerance: tolerance)
        }
    }

    private func diagnosis(_ check: ResultsCheck) throws -> Diagnosis {
        let stages = try (stages ?? []).enumerated().map { index, stage in
            StageComparison(
                stage: stage.stage,
                outputs: try comparisons(
                    stage.outputs, "stages[\(index)].outputs", check, tolerance))
        }
        let sources = try errorSources.map { sources in
            try check.require(
                sources.weights.count == sources.arithmetic.count, "error_sources.arithmetic",
                "must have the outputs of error_sources.weights")
            return ErrorSources(
                weights: try comparisons(
                    sources.weights, "error_sources.weights", check, Tolerance()),
                arithmetic: try comparisons(
                    sources.arithmetic, "error_sources.arithmetic", check, Tolerance()),
                tensors: sources.tensors)
        }
        return Diagnosis(
            stages: stages, errorSources: sources, precisionSearch: precisionSearch,
            reduction: reduction)
    }

    private func layer(_ index: Int, _ check: ResultsCheck) throws -> LayerReport {
        let layer = layers[index]
        try check(layer, at: index)
        let value = ComputedValue(
            name: layer.name, operation: layer.operation, module: layer.module, node: layer.node,
            shape: Shape(layer.shape), inputs: layer.inputs)
        return LayerReport(
            value: value, range: layer.range, error: layer.error?.judged(by: layerTolerance))
    }
}

extension VerificationError {
    /// A file that is not JSON, or whose keys or values are not those of results.
    fileprivate init(_ error: DecodingError, path: String) {
        let remedy = "; name a file that retint verify --save has written"
        func at(_ keys: [any CodingKey], _ rule: String) -> VerificationError {
            VerificationError(.badResults, path: path, place: jsonPlace(of: keys), rule + remedy)
        }
        self =
            switch error {
            case .keyNotFound(let key, let context): at(context.codingPath + [key], "is missing")
            case .typeMismatch(let type, let context):
                at(context.codingPath, "must be \(words(for: type))")
            case .valueNotFound(let type, let context):
                at(context.codingPath, "must be \(words(for: type))")
            case .dataCorrupted(let context) where context.codingPath.isEmpty:
                at([], "cannot be read as JSON")
            case .dataCorrupted(let context):
                at(context.codingPath, "must have one of the values that retint writes")
            @unknown default: at([], "cannot be read")
            }
    }
}

/// `outputs[0].max_abs`, from the keys as Swift spells them.
private func jsonPlace(of keys: [any CodingKey]) -> String {
    keys.reduce("") { place, key in
        if let index = key.intValue { return place + "[\(index)]" }
        let name = key.stringValue.reduce(into: "") { name, letter in
            name += letter.isUppercase ? "_" + letter.lowercased() : String(letter)
        }
        return place.isEmpty ? name : place + "." + name
    }
}

private func words(for type: Any.Type) -> String {
    switch type {
    case is Double.Type: "a number"
    case is Int.Type: "a whole number"
    case is String.Type: "text"
    case is Bool.Type: "true or false"
    case is [Any].Type: "a list"
    default: "an object"
    }
}

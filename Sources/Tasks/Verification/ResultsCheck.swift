import RetintFiles
import RetintGraph
import RetintRuntime
import RetintTensors

/// Refuses values in a results file that no verification produces.
struct ResultsCheck {
    private let path: String
    /// The path of the enclosing object.
    private var prefix = ""

    init(_ path: some PathConvertible) { self.path = path.filePath.string }

    /// The check of places in an object.
    private func within(_ place: String) -> ResultsCheck {
        var check = self
        check.prefix += place + "."
        return check
    }

    private func require(_ condition: Bool, _ place: String, _ rule: String) throws {
        guard !condition else { return }
        throw VerificationError(
            .badResults, path: path, place: prefix + place,
            rule + "; verify again and save the results")
    }

    func callAsFunction(_ results: VerificationResults) throws {
        try require(!results.reports.isEmpty, "judges", "must have at least one judge")
        for (index, report) in results.reports.enumerated() {
            try within("judges[\(index)]")(report)
        }
        guard let record = results.record else { return }
        try self(record.subject, "subject")
        try self(record.inputs, "predicate.inputs")
    }

    private func callAsFunction(_ files: [FileDigest], _ place: String) throws {
        for (index, file) in files.enumerated() {
            try require(
                file.isWellFormed, "\(place)[\(index)].digest.sha256",
                "must be 64 hexadecimal digits")
            try require(!file.name.isEmpty, "\(place)[\(index)].name", "must not be empty")
        }
    }

    private func callAsFunction(_ report: VerificationReport) throws {
        try self(report.tolerance, report.layerTolerance)
        try require(!report.outputs.isEmpty, "outputs", "must have at least one output")
        try report.color.map { try self($0, "delta_e2000") }
        for (index, photo) in report.photos.enumerated() {
            try self(photo.difference, "photos[\(index)].delta_e2000")
        }
        try self(report.outputs, "outputs")
        for (index, layer) in report.layers.enumerated() { try self(layer, at: index) }
        try self(report.diagnosis)
    }

    private func callAsFunction(_ diagnosis: VerificationReport.Diagnosis) throws {
        for (index, stage) in diagnosis.stages.enumerated() {
            try self(stage.outputs, "stages[\(index)].outputs")
        }
        try diagnosis.arithmetics.map { try self($0) }
        try diagnosis.certificate.map { try self($0) }
        guard let sources = diagnosis.errorSources else { return }
        try require(
            sources.weights.count == sources.arithmetic.count, "error_sources.arithmetic",
            "must have the outputs of error_sources.weights")
        try self(sources.weights, "error_sources.weights")
        try self(sources.arithmetic, "error_sources.arithmetic")
    }

    private func callAsFunction(_ survey: VerificationReport.ArithmeticSurvey) throws {
        try require(!survey.trials.isEmpty, "arithmetics.trials", "must not be empty")
        let range = 0...SignificantDigits.most
        for (list, values) in [("outputs", survey.outputs), ("layers", survey.layers)] {
            for (index, value) in values.enumerated() {
                let place = "arithmetics.\(list)[\(index)]"
                try require(
                    range.contains(value.digits) && range.contains(value.digitsAgainstFloat64),
                    place, "must have digits from 0 to \(range.upperBound)")
                try require(
                    (0...survey.trials.count).contains(value.nonFinite), place + ".non_finite",
                    "must be from 0 to the number of trials")
            }
        }
        for (index, fragile) in survey.fragile.enumerated() {
            try require(
                [fragile.operandDigits, fragile.digits, fragile.outputDigits]
                    .allSatisfy(range.contains), "arithmetics.fragile[\(index)]",
                "must have digits from 0 to \(range.upperBound)")
        }
    }

    private func callAsFunction(_ certificate: VerificationReport.Certificate) throws {
        for (index, input) in certificate.inputs.enumerated() {
            try require(
                !input.lower.isEmpty && input.lower.count == input.upper.count
                    && zip(input.lower, input.upper).allSatisfy(<=),
                "certificate.inputs[\(index)]", "must have bounds that ascend")
        }
        let layers = certificate.layers.map { ($0.lower, $0.upper, $0.error) }
        let outputs = certificate.outputs.map { ($0.lower, $0.upper, $0.error) }
        for (list, bounds) in [("layers", layers), ("outputs", outputs)] {
            for (index, bound) in bounds.enumerated() {
                try require(
                    bound.0 <= bound.1 && bound.2 >= 0, "certificate.\(list)[\(index)]",
                    "must have bounds that ascend, and an error that is not negative")
            }
        }
        try require(certificate.tried >= 0, "certificate.tried", "must not be negative")
    }

    private func callAsFunction(_ tolerance: Tolerance, _ layers: LayerTolerance) throws {
        let distances = [
            ("tolerance.atol", tolerance.atol), ("tolerance.rtol", tolerance.rtol),
            ("tolerance.max_mean_abs_error", tolerance.meanAbs),
            ("tolerance.max_mean_delta_e2000", tolerance.meanDeltaE),
            ("tolerance.max_half_ratio", tolerance.maxHalfRatio),
            ("tolerance.max_rounding_ratio", tolerance.maxRoundingRatio),
            ("layer_tolerance.max_rounding_ratio", layers.maxRoundingRatio),
            ("layer_tolerance.max_relative_error", layers.maxRelative),
        ]
        for (place, value) in distances {
            try require((value ?? 0) >= 0, place, "must not be negative")
        }
        let ratios = [
            ("tolerance.min_psnr_db", tolerance.minPSNR),
            ("tolerance.min_snr_db", tolerance.minSNR),
            ("layer_tolerance.min_snr_db", layers.minSNR),
        ]
        for (place, value) in ratios {
            try require(value?.isNaN != true, place, "must be a number")
        }
    }

    private func callAsFunction(_ color: VerificationReport.ColorDifference, _ place: String) throws
    {
        try size(color.mean, place + ".mean")
        try size(color.percentile99, place + ".percentile99")
    }

    private func callAsFunction(_ outputs: [VerificationReport.Output], _ place: String) throws {
        for (index, output) in outputs.enumerated() { try self(output, "\(place)[\(index)]") }
    }

    private func callAsFunction(_ output: VerificationReport.Output, _ place: String) throws {
        try shape(output.shape, place + ".shape")
        let metrics = output.metrics
        try size(metrics.maxAbs, place + ".metrics.max_abs")
        try size(metrics.meanAbs, place + ".metrics.mean_abs")
        try size(metrics.percentile99, place + ".metrics.percentile99")
        try size(metrics.maxRelative, place + ".metrics.max_relative")
        try require(output.peak > 0, place + ".peak", "must be above 0")
        try output.nonFinite.map { try self($0, place + ".non_finite") }
        try output.half.map { try size($0.maxAbs, place + ".half.max_abs") }
        try output.rounding.map { try size($0.maxAbs, place + ".rounding.max_abs") }
        let list = place + ".deciding_errors"
        let points = output.frontier.points
        try require(
            ErrorFrontier(points) != nil, list, "must be finite, not negative, and ascend")
        try require(
            metrics.maxAbs.isNaN || points.last?.error == metrics.maxAbs, list,
            "must end with the error \(place).metrics.max_abs")
    }

    private func callAsFunction(_ layer: VerificationReport.Layer, at index: Int) throws {
        let place = "layers[\(index)]"
        try shape(layer.value.shape.dimensions, place + ".shape")
        try require(
            layer.value.inputs.allSatisfy { (0..<index).contains($0) }, place + ".inputs",
            "must be indices of layers before this one")
        try require(
            layer.range.largest >= 0 && layer.range.largest.isFinite, place + ".range.largest",
            "must be finite and not negative")
        try layer.range.nonFinite.map { try self($0, place + ".range.non_finite") }
        guard let error = layer.error else { return }
        try size(error.maxAbs, place + ".error.max_abs")
        try size(error.meanAbs, place + ".error.mean_abs")
        try size(error.relative, place + ".error.relative")
    }

    private func callAsFunction(_ found: NonFinite, _ place: String) throws {
        try require(found.count > 0, place + ".count", "must be above 0")
        try require(
            (0...found.count).contains(found.nan), place + ".nan", "must be from 0 to the count")
        try require(
            found.first.allSatisfy { $0 >= 0 }, place + ".first", "must not be negative")
    }

    /// An error size: NaN if a value is not finite.
    private func size(_ value: Double, _ place: String) throws {
        try require(value >= 0 || value.isNaN, place, "must not be negative")
    }

    private func shape(_ extents: [Int], _ place: String) throws {
        let range = 1...Shape.maximumCount
        try require(
            extents.count <= Shape.maximumRank && extents.allSatisfy(range.contains), place,
            "must have at most \(Shape.maximumRank) dimensions from 1 to \(range.upperBound)")
    }
}

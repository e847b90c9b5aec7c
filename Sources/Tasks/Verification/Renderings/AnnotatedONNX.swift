import RetintCheckpoints
public import RetintFiles
import RetintONNXReading
import RetintRuntime

extension VerificationResults {
    /// Writes an ONNX copy of the model that was verified, with the figures of each intermediate
    /// value as properties of the node that computes it; an existing file is replaced. Netron and
    /// Model Explorer show them.
    ///
    /// The keys begin with `retint.`. A node has `largest`, the largest magnitude; `non_finite`, if
    /// there are NaN or infinities; and, if its value was compared, `snr_db`, `psnr_db`,
    /// `max_abs_error`, `relative_error`, `expected`, the name of the expected value, and
    /// `within_tolerance`. The model has `model`, `reference`, `passed` and
    /// `first_outside_tolerance`.
    ///
    /// - Parameters:
    ///   - model: the verified ONNX file or package; a package becomes ONNX.
    ///   - path: where to write the copy.
    /// - Throws: ``VerificationError`` if `model` is a checkpoint; `ConversionError` for a package
    ///   that cannot become ONNX; `FileError` if a file cannot be read or written.
    public func writeAnnotatedONNX(
        of model: String, to path: some PathConvertible
    ) throws {
        let package = try ModelFormat(ofModelAt: model).readPackage(at: model)
        guard let package, case .package(let convert) = ModelFormat.onnx.writing else {
            try Self.checkAnnotatable(model)
            return try annotations.write(copyOf: model, to: path)
        }
        try withTemporaryFolder { folder in
            _ = try convert(package, folder + "/model.onnx", ModelWritingOptions())
            try annotations.write(copyOf: folder + "/model.onnx", to: path)
        }
    }

    /// Throws if a model is of a format that ``writeAnnotatedONNX(of:to:)`` cannot annotate: so
    /// that it is known before the model is verified.
    ///
    /// - Throws: ``VerificationError`` if it is a checkpoint; `FileError` if it is not there.
    public static func checkAnnotatable(_ model: String) throws {
        let format = try ModelFormat(ofModelAt: model)
        guard format == .onnx || format.isFor(.packages) else {
            throw VerificationError(
                .badModel, path: model,
                "has no nodes to annotate; export it, and verify the package or the ONNX file")
        }
    }

    /// The report with intermediate values: Apple's runtime does not show them.
    var reportWithLayers: VerificationReport? {
        reports.first { !$0.layers.isEmpty } ?? reports.first
    }

    private var annotations: ONNXAnnotations {
        guard let report = reportWithLayers else { return ONNXAnnotations(nodes: [:], model: []) }
        // Of several values of a node, the last one is its result.
        let nodes = Dictionary(
            report.layers.map { ($0.key, $0.properties) }, uniquingKeysWith: { $1 })
        var model = [
            ("model", report.model), ("reference", report.reference),
            ("passed", "\(passed)"),
        ]
        if let first = VerificationReport.FirstDeparture(in: report.layers) {
            model.append(("first_outside_tolerance", report.layers[first.layer].value.name))
        }
        return ONNXAnnotations(
            nodes: nodes, model: model.map { marked($0) })
    }
}

extension VerificationReport.Layer {
    /// What identifies the node in an ONNX file: its module path if the model is that file, and its
    /// output if it is made from the package.
    var key: String { value.module.isEmpty ? value.name : value.module }

    fileprivate var properties: [ONNXAnnotations.Property] {
        var properties = [("largest", "\(Float(range.largest))")]
        if let nonFinite = range.nonFinite { properties.append(("non_finite", nonFinite.text)) }
        if let error {
            properties += [
                ("snr_db", "\(Float(error.snr))"), ("psnr_db", "\(Float(error.psnr))"),
                ("max_abs_error", "\(Float(error.maxAbs))"),
                ("relative_error", "\(Float(error.relative))"), ("expected", error.expected),
                ("within_tolerance", "\(error.holds)"),
            ]
        }
        return properties.map { marked($0) }
    }
}

private func marked(_ property: (String, String)) -> ONNXAnnotations.Property {
    ("retint." + property.0, property.1)
}

import Retint

/// A table of a diagnosis, with sentences before and after it, as text and as HTML.
struct DiagnosisTable {
    let title: String
    var header: [String] = []
    var rows: [[String]] = []
    var numbers: Set<Int> = []
    var notes: [String] = []

    var lines: [String] {
        var table = TextTable(header: header, rightAligned: numbers)
        for row in rows { table.append(row) }
        return ["", title + (rows.isEmpty ? "" : ":")]
            + (rows.isEmpty ? [] : table.lines.map { "  " + $0 }) + notes
    }

    var html: String {
        let notes = notes.map { "<p>\($0.escapedForHTML)</p>" }.joined(separator: "\n")
        return "<p>\(title.escapedForHTML)</p>\n"
            + (rows.isEmpty ? "" : HTMLPage.table(header, rows)) + notes
    }
}

extension VerificationReport {
    /// The results about where errors come from.
    var diagnosisTables: [DiagnosisTable] {
        [rounding, halfPrecision, stages, precisionSearch, reduction].compactMap { $0 }
            + errorSources + (diagnosis.arithmetics?.tables ?? [])
            + (diagnosis.certificate?.tables ?? [])
    }

    private var halfPrecision: DiagnosisTable? {
        guard tolerance.maxHalfRatio != nil else { return nil }
        return arithmetic("\(measured) itself in half precision", \.half, \.halfRatio)
    }

    private var rounding: DiagnosisTable? {
        guard bounds.needsRounding else { return nil }
        return arithmetic(
            "\(measured) itself in float32, against float64", \.rounding, \.roundingRatio)
    }

    /// The network that shows what an arithmetic loses: values of a file are of no network that
    /// could be run.
    private var measured: String { isSameNetwork ? reference : model }

    /// What an arithmetic alone does to a network.
    private func arithmetic(
        _ title: String,
        _ error: (Output) -> ErrorMetrics?, _ ratio: (Output) -> Double?
    ) -> DiagnosisTable? {
        let rows = outputs.compactMap { output in
            error(output).map { metrics in
                [
                    output.name, Format.fixed(metrics.psnr, 2), Format.fixed(metrics.snr, 2),
                    Format.fixed(ratio(output) ?? .nan, 3),
                ]
            }
        }
        guard !rows.isEmpty else { return nil }
        return DiagnosisTable(
            title: title,
            header: ["output", "PSNR dB", "SNR dB", "error of the model, relative to that"],
            rows: rows, numbers: [1, 2, 3])
    }
}

// MARK: Stages and sources

extension VerificationReport {
    private static let figures = ["output", "max |e|", "mean |e|", "PSNR dB", "SNR dB", ""]

    private func row(_ name: String, _ output: VerificationReport.Output) -> [String] {
        let metrics = output.metrics
        return [
            name, output.name, Format.significant(metrics.maxAbs),
            Format.significant(metrics.meanAbs), Format.fixed(metrics.psnr, 2),
            Format.fixed(metrics.snr, 2), output.failures.isEmpty ? "ok" : "FAILED",
        ]
    }

    private var stages: DiagnosisTable? {
        guard !diagnosis.stages.isEmpty else { return nil }
        let first = diagnosis.firstFailingStage
        return DiagnosisTable(
            title: "stages of the export, against \(reference) as it was trained",
            header: ["stage"] + Self.figures,
            rows: diagnosis.stages.flatMap { stage in
                stage.outputs.map { row(stage.stage.rawValue, $0) }
            }, numbers: [2, 3, 4, 5],
            notes: [
                first.map { "first outside the tolerance: \($0)" }
                    ?? "all are within the tolerance"
            ])
    }

    private var errorSources: [DiagnosisTable] {
        guard let sources = diagnosis.errorSources else { return [] }
        let shares = sources.weights.enumerated().compactMap { index, output in
            sources.weightShare(of: index).map {
                "\(output.name): \(Format.share($0)) of the noise comes from the weights, the "
                    + "rest from the arithmetic"
            }
        }
        let worst = sources.tensors.sorted { ($0.snrDb, $0.name) < ($1.snrDb, $1.name) }
        return [
            DiagnosisTable(
                title: "errors of weights and of arithmetic",
                header: ["source"] + Self.figures.dropLast(),
                rows: sources.weights.map { row("weights alone", $0).dropLast() }
                    + sources.arithmetic.map { row("arithmetic alone", $0).dropLast() }
                    + outputs.map { row("both", $0).dropLast() }, numbers: [2, 3, 4, 5],
                notes: shares),
            DiagnosisTable(
                title: "weights with the lowest SNR, of \(sources.tensors.count)",
                header: ["weight", "values", "max |e|", "SNR dB"],
                rows: worst.prefix(5).map {
                    [
                        $0.name, Format.grouped($0.count), Format.significant($0.maxAbsError),
                        Format.fixed($0.snrDb, 2),
                    ]
                }, numbers: [1, 2, 3]),
        ]
    }
}

// MARK: Searches

extension VerificationReport {
    private var precisionSearch: DiagnosisTable? {
        guard let search = diagnosis.precisionSearch else { return nil }
        let effort = "\(Format.counted(search.runs, "run")), \(Format.fixed(search.seconds, 1)) s"
        let before = search.snrBefore.map { "an SNR of \(Format.fixed($0, 2)) dB" }
        let note = "\(search.model) in float16 has \(before ?? "values that are not finite")"
        guard let kept = search.keptInFloat32 else {
            return DiagnosisTable(
                title: "not even all \(search.operationCount) operations in float32 are enough "
                    + "(\(effort))", notes: [note])
        }
        guard !kept.isEmpty else {
            return DiagnosisTable(title: "no operation needs to stay in float32 (\(effort))")
        }
        return DiagnosisTable(
            title: "\(kept.count) of \(search.operationCount) operations in float32; "
                + "\(search.minimality.text) (\(effort))",
            header: ["in float32", "operation"], rows: kept.map { [$0.name, $0.operation] },
            notes: [note])
    }

    private var reduction: DiagnosisTable? {
        guard let reduction = diagnosis.reduction else { return nil }
        let snr = reduction.snrDb.map { "SNR \(Format.fixed($0, 2)) dB" } ?? "not finite"
        let runs = Format.counted(reduction.runs, "run")
        return DiagnosisTable(
            title: "smallest part that fails: \(reduction.operations.count) of "
                + "\(reduction.operationCount) operations (\(runs), "
                + "\(Format.fixed(reduction.seconds, 1)) s)",
            header: ["name", "operation"],
            rows: reduction.operations.map { [$0.name, $0.operation] },
            notes: [
                "from \(reduction.inputs.joined(separator: ", ")), recorded on "
                    + "\(reduction.recordedOn), to \(reduction.output): \(snr)"
            ] + reduction.failures
                + [
                    "verify it with --reference, the file beside it"
                        + (reduction.tolerance.options.isEmpty
                            ? "" : ", and \(reduction.tolerance.options)")
                ])
    }
}

extension VerificationReport.Minimality {
    fileprivate var text: String {
        switch self {
        case .minimum: "fewer are not enough"
        case .irreducible: "none of them can be removed, and no single one can replace two"
        case .unproven: "fewer may be enough: the runs were used up"
        }
    }
}

extension Tolerance {
    /// The options of `retint verify` for these bounds.
    fileprivate var options: String {
        let bounds = [
            ("--atol", atol), ("--rtol", rtol), ("--max-mean", meanAbs), ("--min-psnr", minPSNR),
            ("--min-snr", minSNR),
        ]
        return bounds.compactMap { name, bound in bound.map { "\(name) \($0)" } }
            .joined(separator: " ")
    }
}

import Retint

extension VerificationResults {
    /// The reports as text; those of several runtimes one after the other, then side by side.
    func lines(allLayers: Bool) -> [String] {
        let own = reports.map { $0.lines(allLayers: allLayers) }
        guard reports.count + missing.count > 1 else {
            return (own.first ?? []).inserting(absence)
        }
        return own.flatMap { $0 + [""] } + judgeTable.lines + missing.map(\.description)
            + [passed ? "passed in all runtimes" : "FAILED"]
    }

    /// That retint's engine did not run, where a reader might assume that it did.
    private var absence: String? {
        reports.first?.judge == .apple ? "retint's engine did not run" : nil
    }

    static let judgeHeader = [
        "judge", "output", "max |e|", "mean |e|", "PSNR dB", "SNR dB", "ΔE2000", "",
    ]

    /// The errors of each output in each runtime.
    var judgeRows: [[String]] {
        reports.flatMap { report in
            report.outputs.map { output in
                let metrics = output.metrics
                return [
                    report.runtime, output.name, Format.significant(metrics.maxAbs),
                    Format.significant(metrics.meanAbs), Format.fixed(metrics.psnr, 2),
                    Format.fixed(metrics.snr, 2),
                    report.color.map { Format.fixed($0.mean, 5) } ?? "",
                    report.passed ? "passed" : "FAILED",
                ]
            }
        }
    }

    private var judgeTable: TextTable {
        var table = TextTable(header: Self.judgeHeader, rightAligned: [2, 3, 4, 5, 6])
        for row in judgeRows { table.append(row) }
        return table
    }
}

extension [String] {
    /// The lines with one before the last, the verdict.
    fileprivate func inserting(_ line: String?) -> [String] {
        guard let line, let last else { return self }
        return dropLast() + [line, last]
    }
}

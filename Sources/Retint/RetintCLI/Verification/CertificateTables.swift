import Retint

extension VerificationReport.Certificate {
    /// The operations that are listed.
    private static let listedCount = 8

    /// The verdict, what is not shown, and the bounds of the outputs and of the largest values.
    var tables: [DiagnosisTable] { [verdict, outputTable, valueTable] }

    private var ranges: String {
        inputs.map { input in
            let (lower, upper) = (input.lower.min() ?? 0, input.upper.max() ?? 0)
            return "\(input.name) in \(plain(lower))…\(plain(upper))"
        }.joined(separator: ", ")
    }

    private func plain(_ number: Float) -> String {
        number == number.rounded() && abs(number) < 1e6 ? "\(Int(number))" : "\(number)"
    }

    private var verdict: DiagnosisTable {
        let all = "for all inputs (\(ranges))"
        if let refutation {
            return DiagnosisTable(
                title: "REFUTED: the model overflows: \(refutation.count) elements of "
                    + "\(refutation.name) (\(refutation.operation)) are NaN or infinite on the "
                    + "worst image, of \(tried) that were tried")
        }
        guard !gaps.isEmpty else {
            return DiagnosisTable(title: "shown: no overflow and no NaN in float16 \(all)")
        }
        return DiagnosisTable(
            title: "not shown, and not refuted by \(tried) images: no overflow and no NaN in "
                + "float16 \(all); the bounds do not exclude",
            header: ["name", "operation", "what", "largest found"],
            rows: gaps.prefix(Self.listedCount).map { gap in
                [
                    gap.name, gap.operation, gap.reason,
                    gap.found.map { Format.significant($0) } ?? "not searched",
                ]
            },
            notes: gaps.count > Self.listedCount
                ? ["and \(gaps.count - Self.listedCount) more"] : [])
    }

    private var outputTable: DiagnosisTable {
        DiagnosisTable(
            title: "outputs for all inputs, and their errors against exact arithmetic",
            header: ["output", "lowest", "highest", "error at most", "found", "gap"],
            rows: outputs.map { output in
                [
                    output.name, Format.significant(output.lower),
                    Format.significant(output.upper), Format.significant(output.error),
                    output.found.map { Format.significant($0) } ?? "-",
                    output.found.map { gap(output.error, $0) } ?? "-",
                ]
            }, numbers: [1, 2, 3, 4, 5],
            notes: gaps.isEmpty ? [] : ["these bounds hold where no value before is infinite"])
    }

    private func gap(_ bound: Double, _ found: Double) -> String {
        found > 0 ? "× \(Format.significant(bound / found))" : "-"
    }

    private var valueTable: DiagnosisTable {
        let largest = layers.enumerated().sorted {
            (size($1.element), $0.offset) < (size($0.element), $1.offset)
        }.prefix(Self.listedCount).map(\.element)
        return DiagnosisTable(
            title: "values with the largest bounds",
            header: ["name", "operation", "lowest", "highest", "error at most"],
            rows: largest.map {
                [
                    $0.name, $0.operation, Format.significant($0.lower),
                    Format.significant($0.upper), Format.significant($0.error),
                ]
            }, numbers: [2, 3, 4])
    }

    private func size(_ value: Value) -> Double { max(abs(value.lower), abs(value.upper)) }
}

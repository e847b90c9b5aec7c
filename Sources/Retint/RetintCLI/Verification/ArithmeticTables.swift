import Retint

extension VerificationReport.ArithmeticSurvey {
    /// The share that passes, the fragile operations, and the values with the fewest digits.
    var tables: [DiagnosisTable] { [shares, fragileOperations, fewestDigits] }

    private var shares: DiagnosisTable {
        let interval = passing.interval()
        let drawn = seed.map { " drawn from seed \($0)" } ?? ""
        let worst = worst.map { trial in
            let snr = trial.snrDb.map { "SNR \(Format.fixed($0, 2)) dB" } ?? "values not finite"
            return "worst (\(snr)): \(trial.arithmetic)"
        }
        return DiagnosisTable(
            title: "within the tolerance in \(passing.passed) of \(passing.count) "
                + "arithmetics\(drawn)",
            notes: [
                "\(Format.share(passing.share)), 95 % interval "
                    + "\(Format.share(interval.lowerBound)) … "
                    + "\(Format.share(interval.upperBound)): "
                    + "a share of the arithmetics tried, not a census of devices",
                worst,
            ].compactMap { $0 })
    }

    private var fragileOperations: DiagnosisTable {
        guard !fragile.isEmpty else {
            return DiagnosisTable(title: "no operation loses digits")
        }
        return DiagnosisTable(
            title: "fragile operations: those that lose digits, by what each of them alone leaves "
                + "of the outputs",
            header: ["name", "operation", "digits before", "after", "of outputs, it alone"],
            rows: fragile.map {
                [
                    $0.name, $0.operation, digits($0.operandDigits), digits($0.digits),
                    digits($0.outputDigits),
                ]
            }, numbers: [2, 3, 4])
    }

    private var fewestDigits: DiagnosisTable {
        let lowest = layers.enumerated().sorted {
            (fewest($0.element), $0.offset) < (fewest($1.element), $1.offset)
        }.prefix(8).map(\.element)
        return DiagnosisTable(
            title: "significant digits of the outputs, and of the values with the fewest",
            header: ["value", "operation", "digits", "against float64", "not finite"],
            rows: (outputs + lowest).map {
                [
                    $0.name, $0.operation.isEmpty ? "output" : $0.operation, digits($0.digits),
                    digits($0.digitsAgainstFloat64), "\($0.nonFinite)",
                ]
            }, numbers: [2, 3, 4])
    }

    private func fewest(_ value: Value) -> Double {
        min(value.digits, value.digitsAgainstFloat64)
    }

    private func digits(_ value: Double) -> String { Format.fixed(value, 2) }
}

import Retint

extension VerificationReport {
    /// The number of values in a list of extremes.
    private static let listedCount = 5

    /// The report as text.
    func lines(allLayers: Bool) -> [String] {
        ["\(model) (\(precision)) against \(reference)"] + outputTable.lines + colorLines
            + ["tolerance: \(tolerance)"] + failures + rangeLines + comparisonLines
            + diagnosisTables.flatMap(\.lines)
            + (allLayers ? [""] + layerTable(Array(layers.indices)).lines : [])
            + ["", "computed in \(compute) by \(runtime)"] + hiddenLines
            + [passed ? "passed" : "FAILED"]
    }

    /// What a report that passes says of intermediate values that differ.
    private var hiddenLines: [String] {
        // Without a departure, those outside are expected in another form.
        guard passed, firstDeparture != nil else { return [] }
        let count = layers.count { $0.error?.holds == false }
        let values = count == 1 ? "1 intermediate value is" : "\(count) intermediate values are"
        return [
            "the outputs agree on these inputs, but \(values) outside the tolerance: on other "
                + "inputs, the outputs may differ"
        ]
    }

    private var outputTable: TextTable {
        var table = TextTable(
            header: Self.outputHeader, rightAligned: [2, 3, 4, 5, 6, 7, 8])
        for row in outputRows { table.append(row) }
        return table
    }

    static let outputHeader = [
        "output", "shape", "max |e|", "mean |e|", "p99 |e|", "max rel", "PSNR dB", "SNR dB",
        "cosine", "",
    ]

    /// The rows of the outputs' table.
    var outputRows: [[String]] {
        outputs.map { output in
            let metrics = output.metrics
            return [
                output.name, "\(Shape(output.shape))", Format.significant(metrics.maxAbs),
                Format.significant(metrics.meanAbs), Format.significant(metrics.percentile99),
                Format.significant(metrics.maxRelative), Format.fixed(metrics.psnr, 2),
                Format.fixed(metrics.snr, 2), Format.fixed(metrics.cosine, 9),
                output.failures.isEmpty ? "ok" : "FAILED",
            ]
        }
    }

    private var colorLines: [String] {
        guard let color else { return [] }
        let all = photos.count > 1 ? " of \(photos.count) images" : ""
        let worst = photos.count > 1 ? worstPhoto : nil
        return ["ΔE2000\(all): \(color.text)"]
            + (worst.map { ["worst image: \($0.photo): \($0.difference.text)"] } ?? [])
    }
}

extension VerificationReport.ColorDifference {
    var text: String { "mean \(Format.fixed(mean, 5)), p99 \(Format.fixed(percentile99, 5))" }
}

// MARK: Intermediate values

extension VerificationReport {
    private var rangeLines: [String] {
        guard !layers.isEmpty else { return [] }
        var table = TextTable(
            header: ["largest values", "operation", "shape", "max |x|", "of float16's 65504"],
            rightAligned: [3, 4])
        for index in largestValues(Self.listedCount) {
            let layer = layers[index]
            table.append([
                layer.value.name, layer.value.operation, "\(layer.value.shape)",
                Format.significant(layer.range.largest), Format.share(layer.range.shareOfHalf),
            ])
        }
        return [""] + table.lines + [nonFiniteLine]
    }

    private var nonFiniteLine: String {
        guard let index = firstNonFinite, let found = layers[index].range.nonFinite else {
            return "no NaN or infinity in \(layers.count) intermediate values"
        }
        let layer = layers[index]
        let inputs = layer.value.inputs.map { input in
            let largest = Format.significant(layers[input].range.largest)
            return "\(layers[input].value.name) (max |x| \(largest))"
        }
        let from = inputs.isEmpty ? "" : "; computed from " + inputs.joined(separator: ", ")
        return "first NaN or infinity: \(layer.value.name) (\(layer.value.operation)): "
            + "\(found.count) values, \(found.nan) of them NaN, the first at \(found.first) in "
            + "\(layer.range.nonFiniteIn ?? "")\(from)"
    }

    private var comparisonLines: [String] {
        guard judge.exposesLayers else {
            return ["", "Apple's runtime does not expose intermediate values"]
        }
        guard comparedCount > 0 else {
            return [
                "",
                "no intermediate value could be paired with one of the reference: a reference file "
                    + "has them as activations/<module path>; with --against, convert the network "
                    + "once more in float32, and compare with that package",
            ]
        }
        let head = [
            "",
            "\(comparedCount) of \(layers.count) intermediate values were compared"
                + "\(pairingText); tolerance: \(layerTolerance)",
        ]
        return head + departureLines + ["lowest SNR:"]
            + layerTable(worstValues(Self.listedCount)).lines.map { "  " + $0 }
    }

    /// ` (paired by values 30, by structure 4)`; empty if all are certain.
    var pairingText: String {
        let pairings = layers.compactMap { $0.error?.pairing }
        guard pairings.contains(where: { $0 == .values || $0 == .structure }) else { return "" }
        let counts = Pairing.allCases.compactMap { pairing in
            let count = pairings.count { $0 == pairing }
            return count == 0 ? nil : "\(pairing.text) \(count)"
        }
        return " (paired \(counts.joined(separator: ", ")))"
    }

    private var departureLines: [String] {
        guard let departure = firstDeparture else {
            let others = layers.count { $0.error?.holds == false }
            return [
                others == 0
                    ? "all are within the tolerance"
                    : "\(others) outside the tolerance lead to values that agree, so that they are "
                        + "other forms of what they were compared with; all others are within it"
            ]
        }
        let name = layers[departure.layer].value.name
        guard !departure.inputs.isEmpty else {
            return ["first outside the tolerance: \(name), which depends on no compared value"]
                + layerTable([departure.layer]).lines.map { "  " + $0 }
        }
        return ["first outside the tolerance: \(name), listed below its operands"]
            + layerTable(departure.inputs + [departure.layer]).lines.map { "  " + $0 }
    }

    private func layerTable(_ indices: [Int]) -> TextTable {
        let header = ["value", "operation", "shape", "max |x|", "max |e|", "mean |e|", "relative"]
        let measured = layers.contains { $0.error?.rounding != nil }
        var table = TextTable(
            header: header + ["SNR dB"] + (measured ? ["× float32", ""] : [""]),
            rightAligned: Set(3...(measured ? 8 : 7)))
        for index in indices { table.append(row(layers[index], measured)) }
        return table
    }

    /// - Parameter measured: whether it is known what float32 loses.
    private func row(_ layer: VerificationReport.Layer, _ measured: Bool) -> [String] {
        let largest = layer.range.nonFinite == nil ? Format.significant(layer.range.largest) : "∞"
        let start = [layer.value.name, layer.value.operation, "\(layer.value.shape)", largest]
        guard let error = layer.error else {
            return start + ["", "", "", ""] + (measured ? [""] : []) + ["not compared"]
        }
        let ratio = error.roundingRatio.map { Format.significant($0) } ?? ""
        return start + [
            Format.significant(error.maxAbs), Format.significant(error.meanAbs),
            Format.significant(error.relative), Format.fixed(error.snr, 2),
        ] + (measured ? [ratio] : []) + [error.holds ? "" : passed ? "outside" : "FAILED"]
    }
}

extension Format {
    /// 0.0123 → 1.23 %.
    static func share(_ value: Double) -> String {
        "\(fixed(100 * value, value < 0.1 ? 3 : 1)) %"
    }
}

extension VerificationReport.Pairing {
    fileprivate var text: String {
        switch self {
        case .recorded: "by recorded nodes"
        case .name: "by name"
        case .values: "by values"
        case .structure: "by structure"
        }
    }
}

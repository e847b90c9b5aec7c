import Retint

/// The JSON of `quantize`.
struct QuantizationOutcome: Encodable {
    let report: QuantizationReport
    let change: QuantizationReport.OutputChange?
    let repair: RangeRepairReport?
    /// The search that found the schemes; nil without one.
    let search: QuantizationSearchReport?
    /// What the search leads to on inputs that it did not see; nil if there are none.
    let heldOut: HeldOut?

    /// The change of the outputs on other inputs.
    struct HeldOut: Encodable {
        let count: Int
        let change: QuantizationReport.OutputChange
    }

    init(
        _ report: QuantizationReport, _ change: QuantizationReport.OutputChange?,
        _ search: QuantizationSearchReport? = nil, _ heldOut: HeldOut? = nil,
        repair: RangeRepairReport?
    ) {
        (self.report, self.change, self.search, self.repair) = (report, change, search, repair)
        self.heldOut = heldOut
    }

    private enum CodingKeys: String, CodingKey {
        case compressed, activations, proof, sensitivities, latency, repair, skipped, raisedTarget,
            bytesBefore, bytesAfter, psnrDb, snrDb, heldOut
        case deltaE2000 = "delta_e2000"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(report.compressed, forKey: .compressed)
        try container.encode(report.activations, forKey: .activations)
        try container.encode(report.skipped, forKey: .skipped)
        try container.encodeIfPresent(report.raisedTarget?.to, forKey: .raisedTarget)
        try container.encode(report.bytesBefore, forKey: .bytesBefore)
        try container.encode(report.bytesAfter, forKey: .bytesAfter)
        try container.encodeIfPresent(search?.proof, forKey: .proof)
        try container.encodeIfPresent(search?.sensitivities, forKey: .sensitivities)
        try container.encodeIfPresent(search?.latency, forKey: .latency)
        try container.encodeIfPresent(heldOut, forKey: .heldOut)
        try container.encodeIfPresent(repair, forKey: .repair)
        try container.encodeIfPresent(change?.psnrDb, forKey: .psnrDb)
        try container.encodeIfPresent(change?.snrDb, forKey: .snrDb)
        try container.encodeIfPresent(change?.deltaE2000, forKey: .deltaE2000)
    }
}

extension QuantizationSearchReport {
    /// The number of weights that are listed; `--json` has all.
    private static let listed = 20

    /// What each scheme alone does, a row for each weight, the most sensitive first.
    var sensitivityLines: [String] {
        let weights = sensitivities.reduce(into: [[Sensitivity]]()) { rows, next in
            if rows.last?.last?.weight == next.weight {
                rows[rows.count - 1].append(next)
            } else {
                rows.append([next])
            }
        }
        var schemes: [String] = []
        for next in sensitivities where !schemes.contains(next.scheme) {
            schemes.append(next.scheme)
        }
        guard let first = sensitivities.first else { return [] }
        let measure = first.deltaE2000 == nil ? "SNR dB" : "ΔE2000"
        var table = TextTable(
            header: ["\(measure) alone"] + schemes, rightAligned: Set(1...schemes.count))
        for weight in weights.prefix(Self.listed) {
            table.append(
                [weight[0].weight]
                    + schemes.map { scheme in
                        weight.first { $0.scheme == scheme }?.text ?? "-"
                    })
        }
        let rest = weights.count - Self.listed
        return table.lines + (rest > 0 ? ["and \(rest) less sensitive weights (--json)"] : [])
    }
}

extension QuantizationSearchReport.Sensitivity {
    fileprivate var text: String {
        deltaE2000.map { Format.fixed($0, 4) } ?? Format.fixed(snrDb ?? .infinity, 1)
    }
}

extension QuantizationReport.OutputChange {
    var text: String {
        guard let deltaE2000 else {
            return "outputs: SNR \(Format.fixed(snrDb ?? .infinity, 2)) dB"
        }
        return "colors: PSNR \(Format.fixed(psnrDb ?? .infinity, 2)) dB, "
            + "mean ΔE2000 \(Format.fixed(deltaE2000, 4))"
    }
}

extension QuantizationReport {
    /// The weights by increasing SNR, then those left unchanged with the reason, then activations.
    var lines: [String] {
        (compressed.isEmpty ? [] : weightLines) + (activations.isEmpty ? [] : activationLines)
    }

    private var activationLines: [String] {
        let isMeasured = activations.contains { $0.effect != nil }
        var table = TextTable(
            header: ["activation", "as", "from", "to", "scale", "zero", "SNR dB"]
                + (isMeasured ? ["alone"] : []),
            rightAligned: [2, 3, 4, 5, 6, 7])
        for value in activations.sorted(by: { $0.rank < $1.rank }) {
            let effect = value.effect.map {
                $0.deltaE2000.map { "ΔE2000 \(Format.fixed($0, 4))" }
                    ?? "SNR \(Format.fixed($0.snrDb ?? .infinity, 1)) dB"
            }
            table.append(
                [
                    value.name, value.scheme ?? "float", Format.significant(Double(value.low)),
                    Format.significant(Double(value.high)),
                    value.scale.map { Format.significant(Double($0)) } ?? "-",
                    value.zeroPoint.map(String.init) ?? "-",
                    value.scheme == nil ? "-" : Format.fixed(value.snrDb ?? .infinity, 1),
                ] + (isMeasured ? [effect ?? "-"] : []))
        }
        return table.lines
    }

    private var weightLines: [String] {
        let isCalibrated = compressed.contains { $0.outputSnrDb != nil }
        var table = TextTable(
            header: ["weight", "operation", "shape", "as", "before", "after", "SNR dB"]
                + (isCalibrated ? ["output SNR dB"] : []),
            rightAligned: [4, 5, 6, 7])
        let worst = compressed.sorted { $0.score < $1.score }
        for weight in worst {
            table.append(
                [
                    weight.name, weight.operation, Self.text(weight.shape), weight.scheme,
                    Format.bytes(weight.bytesBefore), Format.bytes(weight.bytesAfter),
                    Format.fixed(weight.snrDb ?? .infinity, 1),
                ] + (isCalibrated ? [Format.fixed(weight.outputSnrDb ?? .infinity, 1)] : []))
        }
        return table.lines
            + skipped.map { "unchanged: \($0.name), \(Self.text($0.shape)): \($0.reason)" }
    }

    private static func text(_ shape: [Int]) -> String {
        shape.map(String.init).joined(separator: "×")
    }
}

extension RangeRepairReport {
    /// The values with a power of two, and what cannot be repaired.
    var lines: [String] {
        guard isExact else {
            return ["not repaired: the outputs in float32 would have other bits"]
        }
        guard scaledChannels > 0 || !remaining.isEmpty else { return ["all values fit float16"] }
        var table = TextTable(
            header: ["value", "operation", "max |x|", "repaired"], rightAligned: [2, 3])
        for value in repaired + remaining {
            table.append([
                value.name, value.operation, Format.significant(Double(value.before)),
                Format.significant(Double(value.after)),
            ])
        }
        return table.lines + [
            "powers of two in \(scaledChannels) channels and \(scaledConstants) constants; "
                + "outputs in float32 have the same bits",
            "operations with numbers too large for float16: \(overflowingBefore) → "
                + "\(overflowingAfter)",
        ]
    }
}

extension QuantizationReport.Activation {
    /// Values whose quantization changes the outputs most come first.
    fileprivate var rank: Double {
        effect.map { $0.deltaE2000.map { -$0 } ?? $0.snrDb ?? .infinity } ?? snrDb ?? .infinity
    }
}

extension QuantizationOutcome {
    /// What is known about the result of a search; nil without a search.
    var known: String? {
        guard let proof = search?.proof else { return nil }
        if search?.sensitivities.isEmpty == true { return keptAsFloats(proof) }
        let better = search?.latency == nil ? "smaller" : "faster"
        return switch proof {
        case .optimal: "no \(better) choice is within the bound: all were measured"
        case .minimal: "no weight can be \(better) within the bound: each change was measured"
        case .estimated: "\(better) choices may exist: effects of weights were added up"
        }
    }

    private func keptAsFloats(_ proof: QuantizationSearchReport.Proof) -> String {
        let activations = report.activations
        let kept = activations.count { $0.scheme == nil }
        guard kept > 0 else { return "all \(activations.count) activations are quantized" }
        let known =
            proof == .optimal
            ? "no smaller number is enough" : "none of these can be quantized as well"
        return "\(kept) of \(activations.count) activations stay floats: \(known)"
    }
}

extension QuantizationReport.Weight {
    fileprivate var score: Double { outputSnrDb ?? snrDb ?? .infinity }
}

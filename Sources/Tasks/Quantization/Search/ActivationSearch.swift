import RetintEngine
import RetintGraph
import RetintMLPackage
import RetintRuntime

extension MLPackage {
    /// Quantizes as many inputs of operations as a bound allows; the others stay floats.
    ///
    /// The weights are compressed as the plan says, which takes its share of the bound. Then the
    /// effect of each input alone is measured, and those with the largest effects stay floats. With
    /// up to 12 inputs, all choices are tried.
    ///
    /// - Parameters:
    ///   - plan: the schemes, with one for activations.
    ///   - inputs: the inputs of runs, at least one; L in 0…100 for lightness.
    ///   - bound: the largest allowed difference from this package's outputs, or from `targets`.
    ///   - targets: outputs for each of the inputs that the bound is relative to, instead of this
    ///     package's own.
    ///   - execution: how the network runs on the inputs.
    /// - Throws: `ConversionError` if the compressed weights alone exceed the bound, or if the
    ///   outputs are not colors and the bound is one on ΔE2000; the errors of
    ///   ``quantized(_:calibration:execution:)``.
    public func searchActivations(
        _ plan: QuantizationPlan, on inputs: [[NamedTensor]], within bound: QuantizationBound,
        targets: [[NamedTensor]]? = nil, execution: Execution = .init()
    ) throws -> (package: MLPackage, report: QuantizationSearchReport) {
        try plan.check(self)
        let probe = try OutputProbe(
            Model(self, execution: execution), inputs: inputs, targets: targets)
        try bound.check(probe)
        let search = try ActivationSearch(self, plan, inputs, bound, probe, execution)
        let (kept, proof) = try search.smallest()
        var (package, report) = search.quantized(except: kept)
        let change = try probe.change(to: package)
        guard bound.holds(for: change) else { throw bound.unreachable }
        report.activations = search.activations.report(except: kept, search.effects)
        return (
            package,
            QuantizationSearchReport(
                quantization: report, change: change, proof: proof, plan: plan)
        )
    }
}

/// Looks for the smallest set of inputs that must stay floats.
private struct ActivationSearch {
    let activations: ActivationQuantization
    /// The change of the outputs when only this input is quantized.
    private(set) var effects: [ActivationSite: QuantizationReport.OutputChange] = [:]
    /// The package with all inputs and the weights quantized; those that stay floats are taken out
    /// of it, so that weights are calibrated once.
    private let whole: QuantizedPackage
    private let restored: [ActivationSite: String]
    private let bound: QuantizationBound
    private let probe: OutputProbe
    /// The number of runs on which each input is measured separately.
    private static let probeRuns = 4
    /// The largest number of inputs of which all choices are tried.
    private static let exhaustive = 12

    init(
        _ package: MLPackage, _ plan: QuantizationPlan, _ inputs: [[NamedTensor]],
        _ bound: QuantizationBound, _ probe: OutputProbe, _ execution: Execution
    ) throws {
        let source = try package.smoothed(as: plan, on: inputs, execution)
        activations = try ActivationQuantization(source, plan.activations, execution, on: inputs)
        (self.bound, self.probe) = (bound, probe)
        let (quantized, restored) = activations.quantizedValues()
        self.restored = restored
        whole = try quantized.compressed(plan, inputs, execution)
        let all = Set(activations.possible)
        for site in all {
            let alone = activations.quantized(except: all.subtracting([site]))
            effects[site] = try probe.change(to: alone, onFirst: Self.probeRuns)
        }
    }

    func quantized(except kept: Set<ActivationSite>) -> QuantizedPackage {
        var result = whole
        result.package = whole.package.keepingFloats(kept, restored)
        if kept.count == restored.count {
            result.package.description.metadata.userDefined["retint.activations"] = nil
        }
        return result
    }

    private func error(except kept: Set<ActivationSite>) throws -> Double {
        bound.error(try probe.change(to: quantized(except: kept).package))
    }

    private func passes(except kept: Set<ActivationSite>) throws -> Bool {
        try error(except: kept) <= bound.error
    }

    /// The inputs that stay floats, and what is known about their number.
    func smallest() throws -> (Set<ActivationSite>, QuantizationSearchReport.Proof) {
        let all = activations.possible
        if try passes(except: []) { return ([], .optimal) }
        guard try passes(except: Set(all)) else { throw bound.unreachable }
        if all.count <= Self.exhaustive, let found = try best(of: all) { return (found, .optimal) }
        let ranked = all.sorted { effect($0) > effect($1) }
        var (fails, passes) = (0, ranked.count)
        while passes - fails > 1 {
            let middle = (passes + fails) / 2
            if try self.passes(except: Set(ranked.prefix(middle))) {
                passes = middle
            } else {
                fails = middle
            }
        }
        return (try withoutSpare(ranked.prefix(passes)), .minimal)
    }

    private func effect(_ site: ActivationSite) -> Double {
        effects[site].map(bound.error) ?? 0
    }

    /// A set of which no input can be quantized alone: the least harmful are tried first.
    private func withoutSpare(_ ranked: some BidirectionalCollection<ActivationSite>) throws
        -> Set<ActivationSite>
    {
        var kept = Set(ranked)
        var changed = true
        while changed {
            changed = false
            for site in ranked.reversed() where kept.contains(site) {
                guard try passes(except: kept.subtracting([site])) else { continue }
                kept.remove(site)
                changed = true
            }
        }
        return kept
    }

    /// The smallest set, and among those of its size the one with the least error.
    private func best(of all: [ActivationSite]) throws -> Set<ActivationSite>? {
        for size in 1...all.count {
            var best: (kept: Set<ActivationSite>, error: Double)?
            for mask in 0..<1 << all.count where mask.nonzeroBitCount == size {
                let kept = Set(all.indices.filter { mask >> $0 & 1 == 1 }.map { all[$0] })
                let error = try error(except: kept)
                guard error <= bound.error, error < best?.error ?? .infinity else { continue }
                best = (kept, error)
            }
            if let best { return best.kept }
        }
        return nil
    }
}

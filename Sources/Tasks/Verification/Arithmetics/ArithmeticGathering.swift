import RetintFloat64
import RetintGraph
import RetintRuntime
import RetintTensors

/// Runs a model in all arithmetics side by side, value by value, so that memory does not grow with
/// the number of its values.
struct ArithmeticGathering {
    let evaluation: ArithmeticEvaluation
    let arithmetics: [DeviceArithmetic]
    private let expected: any ExpectedValues
    private let inputs: VerificationInputs
    private let report: VerificationReport
    /// The digits of values by their nodes, of the outputs as well.
    private(set) var digits: [Int: SignificantDigits] = [:]
    private var comparisons: [ComparisonGathering]
    /// The number of runs that were made.
    private(set) var runs = 0

    /// The numbers of the arithmetics that are run side by side.
    private let batches: [Range<Int>]

    init(
        _ evaluation: ArithmeticEvaluation, _ arithmetics: [DeviceArithmetic],
        expected: any ExpectedValues, inputs: VerificationInputs, _ report: VerificationReport
    ) throws {
        (self.evaluation, self.arithmetics) = (evaluation, arithmetics)
        (self.expected, self.inputs, self.report) = (expected, inputs, report)
        batches = arithmetics.indices.evenly(atMost: evaluation.runsAtOnce)
        comparisons = try arithmetics.map { _ in
            try ComparisonGathering(
                path: report.model, runs: inputs.count, tolerance: report.tolerance.ofAnyArithmetic,
                expected: expected)
        }
        for node in evaluation.nodes + evaluation.graph.outputs.map(\.value.id) {
            digits[node] = SignificantDigits(runs: arithmetics.count)
        }
    }

    mutating func run(onRun: (Int, Int) -> Void) throws {
        for index in 0..<inputs.count {
            let input = try inputs.input(index)
            try expected.begin(input.tensors, at: index)
            let wanted = try expected.outputs()
            for batch in batches {
                try run(batch, input, wanted)
                onRun(runs, inputs.count * arithmetics.count)
            }
        }
    }

    private mutating func run(
        _ batch: Range<Int>, _ input: VerificationInputs.Input, _ wanted: [NamedTensor]
    ) throws {
        var exact = try evaluation.exact(input.tensors)
        var runs = try batch.map { try evaluation.run(input.tensors, in: arithmetics[$0]) }
        let outputs = Set(evaluation.graph.outputs.map(\.value.id))
        var results = [[Int: TensorData]](repeating: [:], count: batch.count)
        while let (id, reference) = try verifying({ try exact.next() }) {
            let values = try runs.indices.compactMap { run in
                try verifying { try runs[run].next()?.value }
            }
            digits[id]?.add(
                values.map(\.values), first: batch.lowerBound, reference: reference.values)
            guard outputs.contains(id) else { continue }
            for (run, value) in values.enumerated() { results[run][id] = value.rounded }
        }
        self.runs += batch.count
        for (index, values) in zip(batch, results) {
            _ = try comparisons[index].add(named(values), wanted, input)
        }
    }

    private func named(_ values: [Int: TensorData]) -> [NamedTensor] {
        evaluation.graph.outputs.compactMap { output in
            values[output.value.id].map { NamedTensor(output.name, $0) }
        }
    }
}

extension Range<Int> {
    /// Parts of nearly equal size.
    fileprivate func evenly(atMost most: Int) -> [Range<Int>] {
        let parts = (count + most - 1) / most
        return (0..<parts).map { count * $0 / parts..<count * ($0 + 1) / parts }
    }
}

// MARK: Results

extension ArithmeticGathering {
    /// Each arithmetic, judged by the bounds of the verification.
    var trials: [VerificationReport.ArithmeticSurvey.Trial] {
        get throws {
            zip(arithmetics, comparisons).map { arithmetic, comparison in
                let judged = report(of: comparison)
                let snr = judged.lowestSNR
                return .init(
                    arithmetic: arithmetic, passed: judged.passed,
                    snrDb: snr > -.infinity ? snr : nil)
            }
        }
    }

    /// What the verification would report of these outputs alone.
    private func report(of comparison: ComparisonGathering) -> VerificationReport {
        func measured(_ name: String) -> VerificationReport.Output? {
            report.outputs.first { $0.name == name }
        }
        return VerificationReport(
            judge: report.judge, runtime: report.runtime, model: report.model,
            reference: report.reference, isSameNetwork: report.isSameNetwork,
            isColorizer: comparison.isColorizer, precision: report.precision,
            compute: report.compute, tolerance: report.tolerance.ofAnyArithmetic,
            outputs: comparison.outputs.map {
                $0.comparison(half: measured($0.name)?.half, rounding: measured($0.name)?.rounding)
            },
            color: comparison.color, photos: comparison.photos, layers: [],
            layerTolerance: report.layerTolerance, layersDecide: false)
    }

    var outputValues: [VerificationReport.ArithmeticSurvey.Value] {
        evaluation.graph.outputs.compactMap { output in
            digits[output.value.id].map { .init(output.name, "", $0) }
        }
    }

    var layerValues: [VerificationReport.ArithmeticSurvey.Value] {
        evaluation.graph.values.compactMap { value in
            digits[value.tensor.id].map {
                .init(value.description.name, value.description.operation, $0)
            }
        }
    }
}

extension VerificationReport.ArithmeticSurvey.Value {
    fileprivate init(_ name: String, _ operation: String, _ digits: SignificantDigits) {
        self.init(
            name: name, operation: operation, digits: digits.digits,
            digitsAgainstFloat64: digits.digitsAgainstFloat64, nonFinite: digits.nonFinite)
    }
}

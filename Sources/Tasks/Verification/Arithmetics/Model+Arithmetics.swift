public import RetintFloat64
import RetintGraph
public import RetintRuntime
import RetintTensors

extension Model {
    /// Arithmetics that are legal for the model, drawn from a seed.
    ///
    /// - Parameters:
    ///   - count: the number of arithmetics.
    ///   - compute: the precision; nil for the one that the model declares.
    public func arithmetics(
        _ count: Int, compute: ComputePrecision? = nil, seed: UInt64
    ) -> [DeviceArithmetic] {
        let isSingle = (compute ?? computePrecision) == .float32
        return DeviceArithmetic.drawn(count, for: isSingle ? .float32 : .float16, seed: seed)
    }

    /// Evaluates the model in arithmetics that devices may have.
    ///
    /// - Parameters:
    ///   - arithmetics: such as those of ``arithmetics(_:compute:seed:)``.
    ///   - seed: the seed from which they were drawn, for the report.
    ///   - other: the model that computes the expected values, in float32.
    ///   - inputs: the inputs of all runs.
    ///   - report: the verification on the same inputs, whose bounds decide what passes.
    ///   - onRun: called with the number of runs that are done, and that of all as far as it is
    ///     known.
    /// - Throws: ``VerificationError`` if the model cannot be evaluated in float64, or its outputs
    ///   are not those of the other model.
    public func survey(
        _ arithmetics: [DeviceArithmetic], seed: UInt64? = nil, against other: Model,
        on inputs: VerificationInputs, report: VerificationReport,
        onRun: @escaping (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) throws -> VerificationReport.ArithmeticSurvey {
        try survey(
            arithmetics, seed, RecordedOutputs(other, for: self, on: inputs), inputs, report, onRun)
    }

    /// Evaluates the model on a reference's inputs in arithmetics that devices may have; see
    /// ``survey(_:seed:against:on:report:onRun:)``.
    public func survey(
        _ arithmetics: [DeviceArithmetic], seed: UInt64? = nil, against reference: Reference,
        report: VerificationReport,
        onRun: @escaping (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) throws -> VerificationReport.ArithmeticSurvey {
        let inputs = VerificationInputs(
            reference, batchSize: try verifying { try batchSize })
        let expected = ReferenceValues(reference)
        try expected.prepare(first: inputs.input(0), runs: inputs.count)
        return try survey(arithmetics, seed, expected, inputs, report, onRun)
    }

    private func survey(
        _ arithmetics: [DeviceArithmetic], _ seed: UInt64?, _ expected: any ExpectedValues,
        _ inputs: VerificationInputs, _ report: VerificationReport,
        _ onRun: @escaping (Int, Int) -> Void
    ) throws -> VerificationReport.ArithmeticSurvey {
        let first = try inputs.input(0)
        let evaluation = try ArithmeticEvaluation(self, on: first.tensors, report.compute)
        var gathering = try ArithmeticGathering(
            evaluation, arithmetics, expected: expected, inputs: inputs, report)
        try gathering.run(onRun: onRun)
        let search = FragileOperations(evaluation, gathering, inputs: first.tensors)
        let fragile = try search.ranked { onRun(gathering.runs + $0, gathering.runs + $1) }
        return VerificationReport.ArithmeticSurvey(
            seed: seed, trials: try gathering.trials, outputs: gathering.outputValues,
            layers: gathering.layerValues, fragile: fragile)
    }
}

/// A model's graph, and how its nodes are computed in an arithmetic.
struct ArithmeticEvaluation {
    let graph: ModelGraph
    let formats: GraphFormats
    private let threads: Int
    /// The number of runs side by side whose values fit in memory.
    let runsAtOnce: Int

    /// The bytes of the values of all runs side by side, unless the model has a limit.
    private static let usualMemory = 2 << 30
    /// More runs side by side only take more memory; two are needed to see how they differ.
    private static let runRange = 2...16

    init(_ model: Model, on inputs: [NamedTensor], _ compute: ComputePrecision) throws {
        graph = try verifying { try model.graph(on: inputs, compute: compute, folds: false) }
        let roundsAll = model.package == nil && compute == .float16
        formats = GraphFormats(graph, allHalf: roundsAll)
        threads = model.execution.threadCount
        let budget = model.execution.memoryLimit ?? Self.usualMemory
        let most = budget / max(1, 8 * graph.largestLiveCount) - 1
        runsAtOnce = min(max(most, Self.runRange.lowerBound), Self.runRange.upperBound)
    }

    /// The nodes of all values, by their indices.
    var nodes: [Int] { graph.values.map(\.tensor.id) }

    /// A run without any rounding.
    func exact(_ inputs: [NamedTensor]) throws -> Float64Run { try run(inputs) { _ in nil } }

    /// A run of the whole model in an arithmetic.
    func run(_ inputs: [NamedTensor], in arithmetic: DeviceArithmetic) throws -> Float64Run {
        try run(inputs) { [formats] in formats.node($0, in: arithmetic) }
    }

    /// A run with one operation in an arithmetic, and all others exact.
    func run(
        _ inputs: [NamedTensor], onlyOf value: Int, in arithmetic: DeviceArithmetic
    ) throws -> Float64Run {
        try run(inputs) { [formats] in formats.node($0, in: arithmetic, onlyOf: value) }
    }

    private func run(
        _ inputs: [NamedTensor], _ rule: @escaping (Int) -> NodeArithmetic?
    ) throws -> Float64Run {
        try verifying {
            try graph.float64Run(inputs, ArithmeticRules(threads: threads, arithmetic: rule))
        }
    }
}

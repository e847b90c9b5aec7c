import RetintCheckpoints
import RetintDistributed
import RetintEngine
import RetintGraph
import RetintTensorFiles
import RetintTensors

extension Checkpoint {
    /// Adds the ranges that the inputs of layers are rounded to before they are trained, unless
    /// they are there; removes them if inputs are not rounded.
    ///
    /// - Throws: ``TrainingError`` for a network whose convolutions are folded when it is exported;
    ///   the errors of reading photos.
    mutating func setInputRanges(
        for configuration: TrainingConfiguration, _ objective: Objective, _ source: BatchSource,
        _ ranks: Communicator
    ) throws {
        let names = state.map(\.0).filter { InputRounding.weight(ofRange: $0) != nil }
        guard configuration.quantization.roundsInputs else {
            for name in names { state[name] = nil }
            return
        }
        guard try !network.make().canBeFolded else {
            throw TrainingError(
                at: "quantization",
                "is \(configuration.quantization.rawValue); the convolutions of "
                    + "\(network.architecture) become others when it is exported, which have no "
                    + "ranges: choose int8, or another network")
        }
        guard names.isEmpty else { return }
        let measured = try MeasuredInputs(
            objective, variables, source, BatchShares(of: configuration.batch, over: ranks),
            configuration.execution, ranks)
        for (weight, range) in measured.ranges.sorted(by: { $0.key < $1.key }) {
            state[InputRounding.rangeName(of: weight)] = StoredTensor(TensorData(scalar: range))
        }
    }
}

/// The magnitudes of the inputs of layers in the first batches of a training.
private struct MeasuredInputs {
    /// The ranges to begin with, by the names of weights.
    private(set) var ranges: [String: Float] = [:]

    /// The batches that are measured, and the steps among which they are.
    private static let (batches, steps) = (4, 64)
    /// LSQ begins with a step of 2 · mean / √127.
    private static let rangeOfMean = 2 * Float(127).squareRoot()

    init(
        _ objective: Objective, _ variables: [String: TensorData], _ source: BatchSource,
        _ shares: BatchShares, _ execution: Execution, _ ranks: Communicator
    ) throws {
        var objective = objective
        objective.feed.keptPixels = 0
        let side = source.side(step: 0)
        let steps = (0..<Self.steps).filter { source.side(step: $0) == side }.prefix(Self.batches)
        // The statistics of new networks are those of no photo.
        let graph = Graph(mode: .training)
        graph.inputRounding = .observed
        _ = objective.prediction(graph, shape: [shares.own.count, 1, side, side])
        try graph.validate()
        var inputs: [String: Tensor] = [:]
        for (weight, input) in graph.layerInputs { inputs[weight] = inputs[weight] ?? input }
        let weights = inputs.keys.sorted()
        let magnitudes = weights.compactMap { inputs[$0].map { abs($0) } }
        let program = try Program(
            outputs: magnitudes.enumerated().flatMap { index, values in
                [("max \(index)", values.max()), ("mean \(index)", values.mean())]
            }, options: execution.compileOptions)
        try program.load(objective.variables)
        try program.load(variables)
        var own = [Double](repeating: 0, count: 2 * weights.count)
        for step in steps {
            let batch = try source.batch(step: step)
            batch.store(in: program)
            let values = try program.run(batch.inputs.named)
            for index in weights.indices {
                let (largest, mean) = (values["max \(index)"], values["mean \(index)"])
                own[2 * index] = max(own[2 * index], Double(largest?.scalars[0] ?? 0))
                own[2 * index + 1] += Double(mean?.scalars[0] ?? 0) / Double(steps.count)
            }
        }
        let all = try ranks.gather(numbers: own)
        for (index, weight) in weights.enumerated() {
            let largest = all.map { $0[2 * index] }.max() ?? 0
            let mean = all.reduce(0) { $0 + $1[2 * index + 1] } / Double(all.count)
            let range = min(Float(largest), Self.rangeOfMean * Float(mean))
            ranges[weight] = range > 0 && range.isFinite ? range : 1
        }
    }
}

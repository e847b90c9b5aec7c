import RetintArchitectures
import RetintCheckpoints
import RetintDistributed
import RetintEngine
import RetintExport
import RetintGraph
import RetintLayers
import RetintRuntime
import RetintTensors
import RetintTraining

/// A compiled program and its inputs.
struct BenchmarkSubject {
    let program: Program
    let inputs: [String: TensorData]
    /// The number of images in a batch, of all ranks together.
    let batch: Int
    /// The height and the width of the images, if any go in.
    let size: Pair?
    /// Whether runs are timed without copying inputs and outputs, because frameworks keep them in
    /// the memory of a GPU as well.
    private let keepsInputs: Bool

    init(_ model: consuming Model, _ options: BenchmarkOptions) throws {
        switch options.mode {
        case .inference where try model.interface.isColorizer:
            try self.init(inferenceOf: model, options)
        case .inference: try self.init(inferenceOfAny: model, options)
        case .training: try self.init(trainingOf: consume model, options)
        }
    }

    private init(inferenceOf model: Model, _ options: BenchmarkOptions) throws {
        let compiled = try model.program(
            batch: options.batch, height: options.size, width: options.size,
            options: options.compileOptions(model.execution))
        let shape = compiled.inputShape
        program = compiled.program
        inputs = compiled.inputs(lightness: Self.lightness(shape))
        size = Pair(shape[2], shape[3])
        batch = options.batch
        keepsInputs = model.execution.device.isGPU
    }

    /// Any network, on random values.
    private init(inferenceOfAny model: Model, _ options: BenchmarkOptions) throws {
        let sample = try ModelSample(model, size: options.size, batch: options.batch)
        let compiled = try model.program(
            shapes: sample.shapes, options: options.compileOptions(model.execution))
        program = compiled.program
        inputs = Dictionary(sample.inputs.map { ($0.name, $0.data) }) { first, _ in first }
        (size, batch) = (sample.size, sample.batch)
        keepsInputs = model.execution.device.isGPU
    }

    /// A training step in one program: forward pass, L2 loss, backward pass, Adam. The examples
    /// are those of this rank.
    private init(trainingOf model: consuming Model, _ options: BenchmarkOptions) throws {
        let (name, compileOptions) = (model.name, options.compileOptions(model.execution))
        keepsInputs = model.execution.device.isGPU
        guard let source = (consume model).checkpoint else {
            throw BenchmarkError(
                .notTrainable, file: name, "a package cannot be trained; use a checkpoint")
        }
        let checkpoint = try source.checkpoint()
        let size = options.size ?? 256
        let shares = BatchShares(of: options.batch, over: options.ranks)
        let images = shares.own.count
        let (input, output) = (Shape([images, 1, size, size]), Shape([images, 2, size, size]))
        let network = try Self.network(of: checkpoint, name, size: size)
        let graph = Graph(mode: .training)
        let ab = network(graph.input("lightness", input))
        let target = graph.input("ab", output)
        let loss = mseLoss(LabScaling.normalize(ab: ab), LabScaling.normalize(ab: target))
        let parameters = graph.parameters
        let shared = try SharedGradients(of: loss, withRespectTo: parameters, shares)
        Adam().apply(
            parameters: parameters, gradients: shared.gradients, learningRate: graph.learningRate)
        program = try Program(outputs: [("loss", shared.loss)], options: compileOptions)
        try program.load((consume checkpoint).variables)
        try program.load(graph.initialOptimizerState())
        try program.load(["learning_rate": TensorData(scalar: 1e-4)])
        try program.load(SharedGradients.noRequests)
        inputs = [
            "lightness": TensorData(shape: input, scalars: Self.lightness(input)),
            "ab": Self.noise(output, name: "ab", low: -50, high: 50),
        ]
        self.size = Pair(size, size)
        batch = options.batch
    }

    private static func network(
        of checkpoint: Checkpoint, _ name: String, size: Int
    ) throws -> any ColorizerNetwork {
        let network = try checkpoint.network.make()
        if let only = network.onlySize, only != Pair(size, size) {
            throw ModelError(
                .size, name,
                "cannot be trained at size \(size): the network takes \(only.width) × "
                    + "\(only.height) alone")
        }
        guard size.isMultiple(of: network.requiredMultiple) else {
            throw ModelError(
                .size, name,
                "cannot be trained at size \(size): must be a multiple of "
                    + "\(network.requiredMultiple) for \(network.architecture)")
        }
        return network
    }

    /// Times runs after two untimed runs: the first lays out the weights, the second warms
    /// the caches.
    ///
    /// - Parameter runs: nil for as many as fit in two seconds, but at least 5.
    /// - Returns: seconds of each run.
    func measure(runs: Int?) throws -> [Double] {
        if keepsInputs { _ = try program.run(inputs) }
        return try measureSeconds(
            runs: runs ?? 5, for: runs == nil ? .seconds(2) : .zero, warmup: 2
        ) {
            if keepsInputs { try program.repeatRun() } else { _ = try program.run(inputs) }
        }
    }

    private static func lightness(_ shape: Shape) -> [Float] {
        noise(shape, name: "lightness", low: 0, high: 100).scalars
    }

    private static func noise(
        _ shape: Shape, name: String, low: Double, high: Double
    ) -> TensorData {
        var random = RandomStream(seed: 0, name: name)
        return Initializer.uniform(low: low, high: high).values(shape, &random)
    }
}

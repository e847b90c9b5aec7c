import Retint

/// What is measured: a compiled program, and what to feed it.
struct BenchmarkSubject {
    let program: Program
    let inputs: [String: TensorData]
    let height: Int
    let width: Int

    /// A network as it colors.
    static func inference(
        _ model: Model, batch: Int, size: Int?, options: CompileOptions
    ) throws -> BenchmarkSubject {
        let compiled = try model.program(
            batch: batch, height: size, width: size, options: options)
        let shape = compiled.inputShape
        return BenchmarkSubject(
            program: compiled.program, inputs: compiled.inputs(lightness: lightness(shape)),
            height: shape[2], width: shape[3])
    }

    /// A whole training step in one program: forward, L2 loss, backward, Adam.
    static func training(
        _ checkpoint: Checkpoint, batch: Int, size: Int, options: CompileOptions
    ) throws -> BenchmarkSubject {
        let graph = Graph(mode: .training)
        let shape = Shape([batch, 1, size, size])
        let network = try checkpoint.makeColorizer()
        guard size.isMultiple(of: network.requiredMultiple) else {
            throw CommandError(
                .wrongUsage,
                "--size \(size): must be a multiple of \(network.requiredMultiple) for "
                    + checkpoint.architecture)
        }
        let ab = network(graph.input("lightness", shape))
        let target = graph.input("ab", Shape([batch, 2, size, size]))
        let loss = mseLoss(LabScaling.normalize(ab: ab), LabScaling.normalize(ab: target))
        let parameters = graph.parameters
        let slopes = try gradients(of: loss, withRespectTo: parameters)
        Adam().apply(
            parameters: parameters, gradients: slopes, learningRate: graph.learningRate)
        let program = try Program(outputs: [("loss", loss)], options: options)
        try program.load(checkpoint.variables)
        try program.load(graph.initialOptimizerState())
        try program.load(["learning_rate": TensorData(scalar: 1e-4)])
        let inputs = [
            "lightness": TensorData(shape: shape, scalars: lightness(shape)),
            "ab": noise(Shape([batch, 2, size, size]), name: "ab", low: -50, high: 50),
        ]
        return BenchmarkSubject(program: program, inputs: inputs, height: size, width: size)
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

import Foundation
import RetintEngine
import RetintGraph
import RetintLayers
import RetintTensors
import RetintTestSupport
import Testing

/// Losses and optimizers on small tensors against what Goldens/record_rules.py recorded.
@Suite struct RuleTests {
    struct Golden: Decodable {
        let losses: [String: Float]
        let optimizers: [String: [String: [Float]]]

        static func load() throws -> Golden { try decodeGolden("rules.json") }
    }

    private func seeded(_ name: String, _ shape: Shape, _ bound: Double = 1) -> TensorData {
        Seeded.uniform(seed: 3, name, shape, -bound...bound)
    }

    static let losses: [String: @Sendable (Tensor, Tensor) -> Tensor] = [
        "l1": { l1Loss($0, $1) },
        "mse": { mseLoss($0, $1) },
        "huber": { huberLoss($0, $1, delta: 0.7) },
        "smooth_l1": { smoothL1Loss($0, $1, beta: 0.7) },
        "cross_entropy": { crossEntropy($0, softmax($1, axis: 1)) },
    ]

    @Test(arguments: losses.keys.sorted())
    func lossesAreThoseOfPyTorch(_ name: String) throws {
        let graph = Graph()
        let shape: Shape = [2, 5, 3, 4]
        let (x, y) = (graph.input("prediction", shape), graph.input("target", shape))
        let rule = try #require(Self.losses[name])
        let loss = rule(x, y)
        #expect(loss.shape == .scalar)
        let inputs = [
            "prediction": seeded("prediction", shape, 3), "target": seeded("target", shape, 3),
        ]
        let expected = try #require(try Golden.load().losses[name])
        let value = try loss.evaluate(inputs: inputs).scalars[0]
        #expect(abs(value / expected - 1) < 1e-6)
    }

    @Test func weightsRebalanceTheCrossEntropy() throws {
        let graph = Graph()
        let (x, y) = (graph.input("x", [1, 3, 1, 2]), graph.input("y", [1, 3, 1, 2]))
        let weights = graph.constant(TensorData(shape: [1, 1, 1, 2], scalars: [2, 0]))
        let inputs = [
            "x": TensorData(shape: [1, 3, 1, 2], scalars: [0, 5, 0, 1, 0, 2]),
            "y": TensorData(shape: [1, 3, 1, 2], scalars: [1, 0, 0, 0, 0, 1]),
        ]
        let value = try crossEntropy(x, y, weights: weights).evaluate(inputs: inputs)
        // The first place costs ln 3 and counts twice, the second not at all, over two places.
        #expect(abs(value.scalars[0] - 1.098_612_3) < 1e-6)
    }

    static let optimizers: [String: (rule: any Optimizer & Sendable, clip: Float?)] = [
        "sgd": (SGD(), nil),
        "sgd nesterov": (SGD(momentum: 0.9, weightDecay: 0.1, nesterov: true), nil),
        "sgd clipped": (SGD(momentum: 0.9), 0.2),
        "adam": (Adam(), nil),
        "adam decay": (Adam(beta1: 0.8, beta2: 0.99, epsilon: 1e-3, weightDecay: 0.1), nil),
        "adamw": (Adam(weightDecay: 0.2, decouplesWeightDecay: true), nil),
    ]

    @Test(arguments: optimizers.keys.sorted())
    func sixStepsAreThoseOfPyTorch(_ name: String) throws {
        let (rule, clip) = try #require(Self.optimizers[name])
        let expected = try #require(try Golden.load().optimizers[name])
        let start = ["weight": seeded("weight", [4, 3]), "bias": seeded("bias", [4])]
        let program = try step(rule, clip: clip, start: start)
        let inputs = ["x": seeded("x", [8, 3]), "y": seeded("y", [8, 4])]
        for _ in 0..<6 { _ = try program.run(inputs) }

        let names = ["weight": "weight", "bias": "bias", "average": "optimizer.ema.weight"]
        for (key, variable) in names {
            let values = try #require(program.value(of: variable)).scalars
            let recorded = try #require(expected[key])
            #expect(values.count == recorded.count)
            for (value, golden) in zip(values, recorded) {
                #expect(abs(value - golden) < 2e-6, "\(key)")
            }
        }
        #expect(program.value(of: "optimizer.step")?.scalars == [6])
    }

    private func step(
        _ rule: any Optimizer, clip: Float?, start: [String: TensorData]
    ) throws -> Program {
        let layer = Linear(3, 4)
        layer.assignNames()
        let graph = Graph(mode: .training)
        let loss = mseLoss(layer(graph.input("x", [8, 3])), graph.input("y", [8, 4]))
        var found = try gradients(of: loss, withRespectTo: graph.parameters)
        if let clip { found = clipGradNorm(found, maximum: clip).gradients }
        rule.apply(
            parameters: graph.parameters, gradients: found, learningRate: graph.learningRate)
        graph.averageParameters(decay: graph.constant(0.9))
        let program = try Program(outputs: [("loss", loss)])
        try program.load(start)
        try program.load(graph.initialOptimizerState(parameters: start))
        try program.load(["learning_rate": TensorData(scalar: 0.05)])
        return program
    }
}

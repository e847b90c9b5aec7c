import RetintEngine
import RetintGraph
import RetintLayers
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintArchitectures

/// Ten whole training steps (batch statistics, gradients, optimizer) against PyTorch.
@Suite(.serialized) struct TrainingStepTests {
    @Test(arguments: Array(try Golden.load().training.indices).sampled("losses"))
    func tenLossesAreThoseOfPyTorch(_ index: Int) throws {
        let golden = try Golden.load().training[index]
        try golden.expectLosses(of: NetworkDescription.named(golden.network).make())
    }
}

extension Golden.Training {
    /// Trains a network with the seeded weights and inputs, and compares losses and statistics.
    func expectLosses(of network: any ColorizerNetwork) throws {
        let program = try trainingStep(of: network)
        try program.load(Seeded.weights(of: network))
        try program.load(["learning_rate": TensorData(scalar: rate)])
        let inputs = [
            "lightness": Seeded.input("lightness", [2, 1, 64, 64], 0...100),
            "target": Seeded.input("target", [2, 2, 64, 64], -1...1),
        ]
        for (step, expected) in losses.enumerated() {
            let loss = Double(try #require(try program.run(inputs)["loss"]).scalars[0])
            let bound = step == 0 ? 1e-4 : 1e-3
            #expect(abs(loss / expected - 1) <= bound, "step \(step + 1): \(loss), \(expected)")
        }
        for (name, expected) in running {
            let difference = expected.difference(from: try #require(program.value(of: name)))
            #expect(difference.max <= 1e-3 * expected.max, "\(name)")
        }
    }

    /// One training step: the loss as output, everything else as updates.
    private func trainingStep(of network: any ColorizerNetwork) throws -> Program {
        let graph = Graph(mode: .training)
        let ab = network(graph.input("lightness", [2, 1, 64, 64]))
        let loss = mseLoss(ab / 110, graph.input("target", [2, 2, 64, 64]))
        let parameters = graph.parameters
        let found = try gradients(of: loss, withRespectTo: parameters)
        let rule: any Optimizer = optimizer == "sgd" ? SGD(momentum: 0.9) : Adam()
        rule.apply(parameters: parameters, gradients: found, learningRate: graph.learningRate)
        let program = try Program(outputs: [("loss", loss)])
        try program.load(graph.initialOptimizerState())
        return program
    }
}

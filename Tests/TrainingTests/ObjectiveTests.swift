import Foundation
import RetintArchitectures
import RetintColor
import RetintEngine
import RetintGraph
import RetintLayers
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintTraining

/// Bins, losses and schedules against what Goldens/record_objectives.py recorded.
@Suite struct ObjectiveTests {
    struct Golden: Decodable {
        struct Codes: Decodable {
            let neighbors: Int
            let sigma: Float
            let bins: [Int]
            let weights: [Float]
        }

        struct Prior: Decodable { let shares, weights: [Float] }
        struct Classification: Decodable { let losses, gradient: [Float] }

        struct Adversarial: Decodable {
            let loss, doubt: Float
            let gradient, weight, bias: [Float]
        }

        struct Regression: Decodable {
            let kind: String
            let saturation, neutral: Double
            let losses: [Float]
        }

        struct Course: Decodable {
            let kind: String
            let warmup: Int
            let shares: [Double]
        }

        let bins: [Int]
        let codes: [Codes]
        let prior: Prior
        let classification, pairwise: Classification
        let totalVariation: [Float]
        let regression: [Regression]
        let perceptual: Classification
        let adversarial: Adversarial
        let schedules: [Course]

        static func load() throws -> Golden {
            try decodeGolden("objectives.json", keys: .convertFromSnakeCase)
        }
    }

    private func drawn(_ name: String, _ shape: Shape, _ range: ClosedRange<Double>) -> TensorData {
        var random = RandomStream(seed: 4, name: name)
        return Initializer.uniform(low: range.lowerBound, high: range.upperBound)
            .values(shape, &random)
    }

    private func colors(
        _ name: String, _ count: Int, _ range: ClosedRange<Double>
    ) -> [(a: Float, b: Float)] {
        let values = drawn(name, [count, 2], range).scalars
        return (0..<count).map { (values[2 * $0], values[2 * $0 + 1]) }
    }

    /// Whether there are as many values as expected, each within a relative error of `share` (of
    /// 1e-6 for smaller values).
    private func agree(_ values: [Float], _ expected: [Float], within share: Float) -> Bool {
        values.count == expected.count
            && zip(values, expected).allSatisfy { abs($0 - $1) <= share * max(abs($1), 1e-6) }
    }

    // MARK: Bins

    @Test func binsAreThoseOfSciPysHull() throws {
        let centers = ABBins.inGamut.centers.flatMap { [Int($0.a), Int($0.b)] }
        #expect(centers.count == 626)
        let expected = try Golden.load().bins
        #expect(centers == expected)
    }

    @Test(arguments: 0..<3)
    func softCodesAreThoseOfATreeSearch(_ index: Int) throws {
        let golden = try Golden.load().codes[index]
        let codes = colors("colors", 40, -115...115).map {
            ABBins.inGamut.softCode(
                a: $0.a, b: $0.b, count: golden.neighbors, sigma: golden.sigma)
        }
        #expect(codes.flatMap(\.bins) == golden.bins)
        let weights = codes.flatMap(\.weights)
        #expect(weights.count == 40 * golden.neighbors)
        for (weight, expected) in zip(weights, golden.weights) {
            #expect(abs(weight - expected) <= 1e-5)
        }
    }

    @Test func rareColorsAreWeightedAsInZhangEtAl() throws {
        let golden = try Golden.load().prior
        let prior = ColorPrior(colors("prior", 500, -40...60), bins: .inGamut)
        for (share, expected) in zip(prior.shares, golden.shares) {
            #expect(abs(share - expected) <= 1e-6)
        }
        #expect(agree(prior.weights(lambda: 0.5), golden.weights, within: 1e-4))
        #expect(prior.weights(lambda: 1).allSatisfy { abs($0 - 1) < 1e-5 })
    }

    // MARK: Losses

    @Test func classificationIsPyTorchsCrossEntropy() throws {
        let golden = try Golden.load().classification
        let shape: Shape = [2, 7, 3, 4]
        let graph = Graph()
        let logits = graph.variable("logits", shape, role: .parameter)
        let losses = crossEntropy(
            logits, softmax(graph.input("targets", shape), axis: 1),
            weights: graph.input("weights", [2, 1, 3, 4]), reduction: .none
        ).meanOfExamples()
        let gradient = try gradients(of: losses.sum(), withRespectTo: [logits])[0]
        let program = try Program(outputs: [("losses", losses), ("gradient", gradient)])
        try program.load(["logits": drawn("logits", shape, -4...4)])
        let results = try program.run([
            "targets": drawn("targets", shape, -3...3),
            "weights": drawn("weights", [2, 1, 3, 4], 0...2),
        ])
        let values = try #require(results["losses"]).scalars
        #expect(agree(values, golden.losses, within: 1e-5))
        let found = try #require(results["gradient"]).scalars
        #expect(found.count == golden.gradient.count)
        for (value, expected) in zip(found, golden.gradient) {
            #expect(abs(value - expected) <= 1e-6)
        }
    }

    @Test func totalVariationIsTheMeanDifferenceOfNeighbors() throws {
        let graph = Graph()
        let picture = graph.input("picture", [2, 2, 5, 6])
        let values = try totalVariation(picture).evaluate(
            inputs: ["picture": drawn("picture", [2, 2, 5, 6], -1...1)])
        let expected = try Golden.load().totalVariation
        #expect(agree(values.scalars, expected, within: 1e-5))
    }

    @Test(arguments: 0..<9)
    func regressionLossesAreThoseOfPyTorch(_ index: Int) throws {
        let golden = try Golden.load().regression[index]
        var loss = TrainingConfiguration.LossSettings()
        loss.kind = try #require(TrainingConfiguration.LossSettings.Kind(rawValue: golden.kind))
        (loss.regression.chromaWeight, loss.regression.delta) = (golden.saturation, 0.1)
        (loss.neutral.weight, loss.neutral.chroma) = (golden.neutral, 60)
        let shape: Shape = [2, 2, 5, 6]
        let graph = Graph()
        let losses = loss.regression(
            graph.input("estimate", shape), graph.input("target", shape), loss.kind,
            neutral: loss.neutral)
        let values = try losses.evaluate(inputs: [
            "estimate": drawn("estimate", shape, -0.7...0.7),
            "target": drawn("target", shape, -0.7...0.7),
        ])
        #expect(agree(values.scalars, golden.losses, within: 1e-5))
    }

    @Test func pairwiseLossIsPyTorchs() throws {
        let golden = try Golden.load().pairwise
        let (shape, wider): (Shape, Shape) = ([2, 3, 2, 3], [2, 5, 2, 3])
        let graph = Graph(mode: .training)
        let features = graph.variable("features", shape, role: .parameter)
        let differences = pairwiseLoss(features, graph.input("target", wider), reduction: .none)
        let losses = differences.mean(axes: [1, 2])
        let gradient = try gradients(of: losses.sum(), withRespectTo: [features])[0]
        let program = try Program(outputs: [("losses", losses), ("gradient", gradient)])
        try program.load(["features": drawn("features", shape, -1...2)])
        let results = try program.run(["target": drawn("wider", wider, -1...2)])
        #expect(agree(try #require(results["losses"]).scalars, golden.losses, within: 1e-5))
        let found = try #require(results["gradient"]).scalars
        #expect(found.count == golden.gradient.count)
        for (value, expected) in zip(found, golden.gradient) {
            #expect(abs(value - expected) <= 1e-5)
        }
    }

    @Test func perceptualLossIsPyTorchs() throws {
        let golden = try Golden.load().perceptual
        let network = SIGGRAPH17()
        let perceptual = PerceptualEncoder(
            network, variables: weightsOfAnySize(network), modules: ["model1", "model2"])
        let shape: Shape = [2, 2, 16, 16]
        // The encoder's batch normalization stays fixed in a graph that trains.
        let graph = Graph(mode: .training)
        let estimate = graph.variable("estimate", shape, role: .parameter)
        let losses = perceptual(
            graph.input("lightness", [2, 1, 16, 16]), estimate, graph.input("target", shape))
        #expect(graph.parameters.map(\.variableName) == ["estimate"])
        let gradient = try gradients(of: losses.sum(), withRespectTo: [estimate])[0]
        #expect(graph.updates.isEmpty)
        let program = try Program(outputs: [("losses", losses), ("gradient", gradient)])
        try program.load(perceptual.variables)
        try program.load(["estimate": drawn("estimate", shape, -0.7...0.7)])
        let results = try program.run([
            "lightness": drawn("lightness", [2, 1, 16, 16], 0...100),
            "target": drawn("target", shape, -0.7...0.7),
        ])
        let values = try #require(results["losses"]).scalars
        #expect(agree(values, golden.losses, within: 1e-4))
        let found = try #require(results["gradient"]).scalars
        let largest = golden.gradient.map(abs).max() ?? 0
        #expect(found.count == golden.gradient.count && largest > 0)
        for (value, expected) in zip(found, golden.gradient) {
            #expect(abs(value - expected) <= 1e-4 * largest)
        }
    }

    /// The discriminator learns to tell colors apart, and the network from its verdict; neither
    /// from the other's loss.
    @Test func adversarialLossIsPyTorchs() throws {
        let golden = try Golden.load().adversarial
        var settings = TrainingConfiguration.AdversarialLoss()
        (settings.weight, settings.width) = (0.5, 4)
        let setup = LossSetup(network: ClassUNet(options: .init()), loss: .init(), hints: false)
        let part = try #require(settings.prepared(setup).first)
        let opponent = try #require(part.opponent)
        let graph = Graph(mode: .training)
        // The colorizer's rounding does not concern the discriminator.
        graph.weightRounding = WeightRounding(bits: 4, threshold: 0)
        let lightness = graph.input("lightness", [2, 1, 32, 32])
        let estimate = graph.variable("estimate", [2, 2, 32, 32], role: .parameter)
        let prediction = TrainingPrediction(
            lightness: lightness, colors: ColorPrediction(ab: estimate * 110, logits: nil))
        let context = LossContext(prediction, teacher: [:], StepFeed())
        let (doubt, loss) = (try #require(try part.build(context)), opponent.loss(context))
        #expect(graph.weightRounding != nil)
        let names = Set(opponent.variables.keys)
        #expect(names.allSatisfy(Discriminator.names(variable:)) && names.count == 8)
        let shared = try SharedGradients(
            of: doubt, withRespectTo: graph.parameters, BatchShares(of: 2, over: .single),
            opponent: (loss, names))
        var outputs = [("loss", loss), ("doubt", doubt)]
        for (parameter, gradient) in zip(graph.parameters, shared.gradients) {
            outputs.append((parameter.variableName, gradient))
        }
        let program = try Program(outputs: outputs)
        var weights = ["estimate": drawn("estimate", estimate.shape, -0.7...0.7)]
        for (name, value) in opponent.variables {
            weights[name] = drawn(name, value.shape, -0.3...0.3)
        }
        try program.load(weights)
        let results = try program.run([
            "lightness": drawn("lightness", lightness.shape, 0...100),
            "target": drawn("target", estimate.shape, -0.7...0.7),
        ])
        func expect(_ name: String, _ expected: [Float], _ factor: Float = 1) throws {
            let found = try #require(results[name]).scalars
            let largest = expected.map(abs).max() ?? 0
            #expect(found.count == expected.count && largest > 0, "\(name)")
            for (value, expected) in zip(found, expected) {
                #expect(abs(value - factor * expected) <= 1e-4 * largest, "\(name)")
            }
        }
        try expect("loss", [golden.loss])
        try expect("doubt", [golden.doubt], 0.5)
        try expect("estimate", golden.gradient, 0.5)
        try expect("discriminator.0.weight", golden.weight)
        try expect("discriminator.6.bias", golden.bias)
    }

    /// As `weights_of_any_size` in record_objectives.py.
    private func weightsOfAnySize(_ network: SIGGRAPH17) -> [String: TensorData] {
        var values: [String: TensorData] = [:]
        for entry in StateSpec(of: network).tensors {
            let fanIn = entry.shape.dimensions.dropFirst().reduce(1, *)
            let bound = (6 / Double(fanIn)).squareRoot()
            let scales = entry.name.hasSuffix("running_var") || entry.name.hasSuffix("4.weight")
            let range = entry.shape.rank == 4 ? -bound...bound : scales ? 0.5...1.5 : -0.2...0.2
            values[entry.name] = drawn(entry.name, entry.shape, range)
        }
        return values
    }

    // MARK: Schedules

    @Test(arguments: 0..<4)
    func ratesFollowPyTorchsSchedulers(_ index: Int) throws {
        let golden = try Golden.load().schedules[index]
        var schedule = TrainingConfiguration.ScheduleSettings()
        schedule.kind = try #require(
            TrainingConfiguration.ScheduleSettings.Kind(rawValue: golden.kind))
        schedule.warmupSteps = golden.warmup
        (schedule.every, schedule.factor) = (6, 0.3)
        let shares = golden.shares.indices.map {
            schedule.share(at: $0, of: golden.shares.count)
        }
        #expect(shares.count == 20)
        for (share, expected) in zip(shares, golden.shares) {
            #expect(abs(share - expected) <= 1e-7)
        }
    }
}

import RetintEngine
import RetintGraph
import RetintLayers
import RetintTensors
import Testing

@testable import RetintArchitectures

/// The networks with seeded weights against what PyTorch recorded.
@Suite(.serialized) struct ForwardTests {
    @Test(arguments: colorizerNames)
    func everyLayerAndTheColorsAreThoseOfPyTorch(_ name: String) throws {
        let golden = try #require(try Golden.load().networks[name])
        let network = try NetworkDescription.named(name).make()
        let graph = Graph()
        let ab = network(graph.input("lightness", [1, 1, 64, 64]))
        try graph.validate()
        let layers = graph.lastOutputs(of: golden.layers.keys)
        let program = try Program(outputs: [("ab", ab)] + layers)
        try program.load(Seeded.weights(of: network))
        let results = try program.run([
            "lightness": Seeded.input("lightness", [1, 1, 64, 64], 0...100)
        ])

        // These two are functions here, not modules.
        let missing = Set(golden.layers.keys).subtracting(layers.map(\.name))
        #expect(missing.isSubset(of: ["softmax", "upsample4"]))
        for (path, _) in layers {
            let (result, expected) = (
                try #require(results[path]), try #require(golden.layers[path])
            )
            #expect(result.shape.dimensions == expected.shape, "\(path)")
            let difference = expected.difference(from: result)
            #expect(difference.max <= 1e-4 * expected.max, "\(path)")
            #expect(difference.mean <= 1e-4 * expected.max, "\(path)")
        }
        let colors = golden.ab.difference(from: try #require(results["ab"]))
        #expect(colors.max <= 0.01)
        #expect(colors.mean <= 0.001)
    }

    @Test(arguments: ["class-unet", "lite-class-unet", "eccv16"])
    func saturationMultipliesTheColors(_ name: String) throws {
        let colors = try [1, 1.5].map { saturation in
            let options = ColorizerOptions(width: 0.25, temperature: 0.6, chromaScale: saturation)
            let network = try NetworkDescription.named(name, options).make()
            let graph = Graph()
            let ab = network(graph.input("lightness", [1, 1, 32, 32]))
            let program = try Program(outputs: [("ab", ab)])
            try program.load(Seeded.weights(of: network))
            return try #require(
                try program.run([
                    "lightness": Seeded.input("lightness", [1, 1, 32, 32], 0...100)
                ])["ab"]
            ).scalars
        }
        #expect(colors[0].contains { abs($0) > 1 })
        for (one, other) in zip(colors[0], colors[1]) {
            #expect(abs(1.5 * one - other) <= 1e-4)
        }
    }

    @Test func automaticColorizingIsColorizingWithoutHints() throws {
        let network = SIGGRAPH17(options: .init(width: 0.25, hasClassHead: false))
        let graph = Graph()
        let lightness = graph.input("lightness", [1, 1, 16, 16])
        let zeros = graph.constant(TensorData(shape: [1, 1, 16, 16], repeating: 0))
        let hinted = network.predictions(
            lightness, hints: concat([zeros, zeros], axis: 1), mask: zeros
        ).ab
        let program = try Program(outputs: [("alone", network(lightness)), ("hinted", hinted)])
        try program.load(StateSpec(of: network).initialValues(seed: 5))
        let results = try program.run([
            "lightness": Seeded.input("lightness", [1, 1, 16, 16], 0...100)
        ])
        #expect(results["alone"] == results["hinted"])
    }
}

extension Graph {
    /// The last value that each of these modules adds, by the module's path.
    fileprivate func lastOutputs(
        of paths: some Sequence<String>
    ) -> [(name: String, value: Tensor)] {
        paths.compactMap { path in
            nodes.lastIndex { $0.module == path }.map { (path, Tensor(graph: self, id: $0)) }
        }
    }
}

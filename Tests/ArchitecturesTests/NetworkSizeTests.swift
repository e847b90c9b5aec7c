import RetintGraph
import RetintLayers
import RetintTensors
import Testing

@testable import RetintArchitectures

@Suite struct NetworkSizeTests {
    private func cost(_ network: any ColorizerNetwork, _ size: Int) throws -> Double {
        let graph = Graph()
        let ab = network(graph.input("lightness", [1, 1, size, size]))
        try graph.validate()
        #expect(ab.shape == [1, 2, size, size])
        return Double(multiplyAdds(of: [ab])) * 1e-9
    }

    @Test func multiplyAddsAreThePublishedOnes() throws {
        #expect(abs(try cost(ECCV16(), 256) - 41.77) < 0.005)
        #expect(abs(try cost(SIGGRAPH17(), 256) - 75.20) < 0.005)
    }

    /// Students over two orders of magnitude.
    @Test(arguments: [
        ("pico-unet", 0.03, 16), ("mobile-unet", 0.36, 16), ("rep-unet", 1.04, 16),
        ("class-unet", 2.66, 16), ("lite-unet", 0.61, 8), ("lite-class-unet", 0.79, 8),
    ])
    func studentsKeepTheirBudgets(
        _ name: String, _ gigaMultiplyAdds: Double, _ multiple: Int
    ) throws {
        let folded = try makeColorizer(name, options: .init(isFolded: true))
        #expect(abs(try cost(folded, 256) / gigaMultiplyAdds - 1) < 0.1)
        for entry in StateSpec(of: folded).entries where entry.name.hasSuffix("running_mean") {
            #expect(entry.shape.count % multiple == 0, "\(entry.name)")
        }
    }

    @Test func mobileUNetKeepsItsBudget() throws {
        let network = MobileUNet()
        #expect(StateSpec(of: network).parameterCount <= 1_500_000)
        #expect((0.2...0.6).contains(try cost(network, 256)))
        let spec = StateSpec(of: network)
        for entry in spec.entries where entry.name.hasSuffix("running_mean") {
            #expect(entry.shape.count % 16 == 0, "\(entry.name)")
        }
    }

    @Test(arguments: ["eccv16", "mobile-unet"])
    func summaryCountsAll(_ name: String) throws {
        let network = try makeColorizer(name)
        let summary = NetworkSummary(of: network, input: [1, 1, 256, 256])
        #expect(summary.parameters == StateSpec(of: network).parameterCount)
        #expect(abs(1e-9 * Double(summary.multiplyAdds) - (try cost(network, 256))) < 1e-6)
        #expect(summary.rows.count >= 8 && summary.output == [1, 2, 256, 256])
        #expect(Set(summary.rows.map(\.module)).count == summary.rows.count)
    }

    @Test(arguments: colorizerNames)
    func widthScalesTheNetwork(_ name: String) throws {
        let half = StateSpec(of: try makeColorizer(name, options: .init(width: 0.5)))
        let whole = StateSpec(of: try makeColorizer(name))
        #expect(half.entries.map(\.name) == whole.entries.map(\.name))
        #expect((0.2...0.4).contains(Double(half.parameterCount) / Double(whole.parameterCount)))
    }

    /// The encoder keeps its shapes, into which published weights go.
    @Test(arguments: ["lite-unet", "lite-class-unet"])
    func decoderWidthScalesTheDecoderAlone(_ name: String) throws {
        let thin = StateSpec(of: try makeColorizer(name, options: .init(decoderWidth: 0.5)))
        let whole = StateSpec(of: try makeColorizer(name))
        #expect(thin.entries.map(\.name) == whole.entries.map(\.name))
        for (one, other) in zip(thin.entries, whole.entries) where one.kind != .counter {
            if one.name.hasPrefix("encoder.") || one.name.hasPrefix("context.") {
                #expect(one.shape == other.shape, "\(one.name)")
            } else if one.name.hasPrefix("lateral"), other.shape[0] > 16 {
                #expect(one.shape.count < other.shape.count, "\(one.name)")
            }
        }
        #expect(thin.parameterCount < whole.parameterCount)
    }

    @Test(arguments: colorizerNames.filter { !$0.hasPrefix("lite") })
    func decoderWidthIsRefusedWhereThereIsNone(_ name: String) throws {
        expectRefusal(name, .init(decoderWidth: 0.5))
        #expect(throws: Never.self) { try makeColorizer(name, options: .init(decoderWidth: 1)) }
    }

    @Test(
        arguments: colorizerNames.filter {
            !["eccv16", "class-unet", "lite-class-unet"].contains($0)
        })
    func saturationIsRefusedWhereThereIsNone(_ name: String) throws {
        expectRefusal(name, .init(chromaScale: 1.2))
        #expect(throws: Never.self) { try makeColorizer(name, options: .init(chromaScale: 1)) }
    }

    /// lite-class-unet, which knows all of them, is suggested.
    private func expectRefusal(_ name: String, _ options: ColorizerOptions) {
        let error = #expect(throws: ColorizerError.self) {
            try makeColorizer(name, options: options)
        }
        #expect(error?.description.contains("lite-class-unet") == true)
        #expect(throws: Never.self) { try makeColorizer("lite-class-unet", options: options) }
    }

    @Test(arguments: colorizerNames)
    func inputsThatDoNotFitAreRefused(_ name: String) throws {
        for shape: Shape in [[1, 1, 250, 256], [1, 3, 256, 256], [1, 256, 256]] {
            let (graph, network) = (Graph(), try makeColorizer(name))
            _ = network(graph.input("lightness", shape))
            #expect(try #require(graph.error).operation == name)
        }
    }

    @Test func theRegistryNamesWhatItKnows() {
        #expect(
            colorizerNames == [
                "eccv16", "siggraph17", "class-unet", "rep-unet", "lite-unet", "lite-class-unet",
                "mobile-unet", "pico-unet",
            ])
        let unknown = #expect(throws: ColorizerError.self) { try makeColorizer("vgg") }
        #expect(unknown?.description.contains("siggraph17") == true)
        for width in [0, -1, 5, .nan] {
            #expect(throws: ColorizerError.self) {
                try makeColorizer("eccv16", options: .init(width: width))
            }
        }
    }

    @Test func sideOutputsHaveTheirShapes() throws {
        var graph = Graph()
        #expect(
            ECCV16().predictions(graph.input("l", [1, 1, 64, 64])).logits?.shape == [
                1, 313, 16, 16,
            ])
        try graph.validate()

        graph = Graph()
        let (network, lightness) = (SIGGRAPH17(), graph.input("l", [1, 1, 64, 64]))
        #expect(network.predictions(lightness).logits?.shape == [1, 529, 16, 16])
        let ab = network.predictions(
            lightness, hints: graph.input("h", [1, 2, 64, 64]), mask: lightness
        ).ab
        #expect(ab.shape == [1, 2, 64, 64])
        try graph.validate()
    }
}

import RetintEngine
import RetintGraph
import RetintLayers
import RetintTensors
import Testing

@testable import RetintArchitectures

@Suite struct FoldingTests {
    /// Branches and the one convolution that they become compute the same.
    @Test func foldedNetworksComputeTheSame() throws {
        let branched = RepUNet(options: .init(width: 0.5))
        let folded = RepUNet(options: .init(width: 0.5, isFolded: true))
        let values = Seeded.weights(of: branched)
        let foldedValues = branched.foldedState(values)
        let names = Set(StateSpec(of: folded).tensors.map(\.name))
        #expect(Set(foldedValues.keys) == names)
        let input = Seeded.input("lightness", [1, 1, 64, 64], 0...100)
        func ab(_ network: RepUNet, _ values: [String: TensorData]) throws -> [Float] {
            let graph = Graph()
            let ab = network(graph.input("lightness", [1, 1, 64, 64]))
            return try ab.evaluate(inputs: ["lightness": input], variables: values).scalars
        }
        let (expected, found) = (try ab(branched, values), try ab(folded, foldedValues))
        let largest = expected.reduce(0) { max($0, abs($1)) }
        #expect(largest > 1)
        #expect(zip(expected, found).allSatisfy { abs($0 - $1) < 1e-4 * largest })
    }

    @Test func networksWithoutBranchesStay() {
        let network = PicoUNet()
        let values = Seeded.weights(of: network)
        #expect(network.foldedState(values) == values)
    }

    @Test func depthRepeatsBlocks() throws {
        for name in ["pico-unet", "mobile-unet", "rep-unet", "class-unet"] {
            let counts = try [0.5, 1, 2].map { depth in
                StateSpec(of: try NetworkDescription.named(name, .init(depth: depth)).make())
                    .parameterCount
            }
            #expect(counts[0] < counts[1] && counts[1] < counts[2], "\(name)")
        }
        #expect(throws: ColorizerError.self) {
            try NetworkDescription.named("pico-unet", .init(depth: 9)).make()
        }
        for options in [ColorizerOptions(temperature: 0), .init(chromaScale: -1)] {
            #expect(throws: ColorizerError.self) {
                try NetworkDescription.named("class-unet", options).make()
            }
        }
    }
}

import RetintEngine
import RetintGraph
import RetintTestSupport
import Testing

@testable import RetintArchitectures

/// Colors of distributions over bins against those that PyTorch computes.
@Suite struct DecoderTests {
    private struct Golden: Decodable {
        let saturation, certainty, neutrality: Double
        let colors: [Float]
    }

    @Test func colorsAreThoseOfPyTorch() throws {
        let goldens: [Golden] = try decodeGolden("decoders.json")
        #expect(goldens.map(\.certainty) == [0, 1, 2, 3, 4, 0, 0, 0, 3])
        #expect(goldens.map(\.neutrality) == [0, 0, 0, 0, 0, 1, 4, 0.5, 2.5])
        for golden in goldens {
            let decoder = BinDecoder(
                ColorizerOptions(
                    temperature: 0.6, chromaScale: golden.saturation, certainty: golden.certainty,
                    neutrality: golden.neutrality))
            let colors = try colors(of: decoder)
            let largest = golden.colors.map(abs).max() ?? 0
            #expect(colors.count == golden.colors.count && largest > 0)
            for (color, expected) in zip(colors, golden.colors) {
                #expect(
                    abs(color - expected) <= 1e-5 * largest,
                    "\(golden.certainty), \(golden.neutrality)")
            }
        }
    }

    /// Half of such a certainty is rounded to 0.
    @Test func theLeastCertaintyHasNoEffect() throws {
        let plain = try colors(of: BinDecoder(ColorizerOptions()))
        let least = try colors(of: BinDecoder(ColorizerOptions(certainty: 1e-45)))
        #expect(zip(plain, least).allSatisfy { abs($0 - $1) <= 1e-6 } && plain.count == 24)
    }

    private func colors(of decoder: BinDecoder) throws -> [Float] {
        let graph = Graph()
        let colors = decoder(graph.input("logits", [2, 313, 2, 3]))
        let program = try Program(outputs: [("colors", colors)])
        let logits = Seeded.input("logits", [2, 313, 2, 3], -6...6)
        return try #require(try program.run(["logits": logits])["colors"]).scalars
    }
}

import RetintEngine
import RetintGraph
import RetintTestSupport
import Testing

@testable import RetintArchitectures

/// Features of photos in color against those that PyTorch computes.
@Suite struct FeatureTests {
    @Test(arguments: [("lite0", 1, 1), ("lite2", 1.1, 1.2)])
    func pooledFeaturesAreThoseOfPyTorch(_ name: String, _ width: Double, _ depth: Double) throws {
        let goldens: [String: [[Float]]] = try decodeGolden("features.json")
        let golden = try #require(goldens[name])
        let network = PooledEfficientNetLite(width: width, depth: depth)
        let graph = Graph()
        let features = network(graph.input("photos", [2, 3, 64, 64]))
        let program = try Program(outputs: [("features", features)])
        try program.load(Seeded.weights(of: network))
        let photos = Seeded.input("photos", [2, 3, 64, 64], 0...255)
        let result = try #require(try program.run(["photos": photos])["features"])
        #expect(result.shape.dimensions == [2, golden[0].count])
        let expected = golden.flatMap { $0 }
        let largest = expected.map(abs).max() ?? 0
        for (value, golden) in zip(result.scalars, expected) {
            #expect(abs(value - golden) <= 1e-4 * largest, "\(value), recorded \(golden)")
        }
    }
}

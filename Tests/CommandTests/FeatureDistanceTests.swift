import Foundation
import RetintArchitectures
import RetintCheckpoints
import RetintCommandSupport
import RetintLayers
import RetintTensorFiles
import RetintTestSupport
import Testing

@testable import Retint

@Suite(.sampled()) struct FeatureDistanceTests {
    private struct Golden: Decodable {
        let first, second: [[Double]]
        let distance: Double
    }

    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    @Test func distancesAreThoseOfSciPy() throws {
        let goldens: [Golden] = try decodeGolden("frechet.json")
        for golden in goldens {
            let distance = try #require(frechetDistance(golden.first, golden.second))
            #expect(abs(distance - golden.distance) <= 1e-7 * golden.distance)
            let back = try #require(frechetDistance(golden.second, golden.first))
            #expect(abs(distance - back) <= 1e-7 * golden.distance)
            let own = try #require(frechetDistance(golden.first, golden.first))
            #expect(own >= 0 && own <= 1e-6 * golden.distance)
        }
    }

    @Test func unusableFeaturesHaveNoDistance() {
        let pair = [[1.0, 2], [3, 5]]
        #expect(frechetDistance(pair, pair) != nil)
        for other in [
            [], [[1, 2]], [[1], [2]], [[1, 2], [3]], [[1, 2], [3, .nan]], [[], []],
        ] {
            #expect(frechetDistance(pair, other) == nil && frechetDistance(other, pair) == nil)
        }
    }

    @Test func readsTheDeepestVariantOfAFile() throws {
        for (name, depth, path) in [
            ("EfficientNet-Lite0", 1, "a.h5"), ("EfficientNet-Lite1", 1.1, "b.safetensors"),
        ] {
            try bench.makeFeatures(path, depth: depth)
            #expect(try FeatureNetwork(contentsOf: bench.path(path)).name == name)
        }
        // As timm names them, beside a classifier.
        try bench.makeFeatures("c.h5") { state in
            for (name, tensor) in state {
                state[name] = nil
                state[String(name.dropFirst("encoder.".count))] = tensor
            }
            state["classifier.bias"] = StoredTensor(shape: [2], floats: [0, 0])
        }
        #expect(try FeatureNetwork(contentsOf: bench.path("c.h5")).name == "EfficientNet-Lite0")
    }

    @Test func evaluateMeasuresThem() throws {
        let model = try bench.makeLivelyCheckpoint()
        try bench.makeFeatures("features.h5")
        try bench.makeDirectory("data")
        for side in [40, 60, 80] { _ = try bench.makePhoto("data/\(side).png", height: side) }
        let arguments = ["evaluate", model, "--data", "data", "--size", "32", "--features"]
        let report = try bench.json(try bench.expect(0, arguments + ["features.h5", "--json"]))
        #expect(report["features"] as? String == "EfficientNet-Lite0")
        let gray = try #require(report["gray"] as? [String: Any])
        for column in [report, gray] {
            #expect(try #require(column["frechet_distance"] as? Double) > 0)
        }
        let table = try bench.expect(0, arguments + ["features.h5"]).output
        #expect(table.contains("Fréchet distance") && table.contains("features: EfficientNet-L"))
        try bench.expect(
            0, arguments + ["features.h5", "--html", "page.html", "--enlarge", "guided"])
        let page = try String(contentsOfFile: bench.path("page.html"), encoding: .utf8)
        #expect(page.contains("between features of EfficientNet-Lite0"))
        let compared = try bench.expect(
            0, "compare", model, "--data", "data", "--size", "32", "--rounds", "1", "--features",
            "features.h5"
        ).output
        #expect(compared.contains("| Fréchet distance | "))
        #expect(compared.contains("between features of EfficientNet-Lite0."))
    }

    /// Photos are compared a few at a time on several threads, which share the features' program.
    @Test func threadsDoNotChangeTheReport() throws {
        let model = try bench.makeLivelyCheckpoint()
        try bench.makeFeatures("features.h5")
        try bench.makeDirectory("data")
        for side in 40..<52 { _ = try bench.makePhoto("data/\(side).png", height: side) }
        let reports = try ["1", "3"].map { threads in
            try bench.json(
                try bench.expect(
                    0, "evaluate", model, "--data", "data", "--size", "32", "--features",
                    "features.h5", "--threads", threads, "--json"))
        }
        func values(_ report: [String: Any]) throws -> [(file: String, error: Double)] {
            let photos = try #require(report["photos"] as? [[String: Any]])
            return try photos.map {
                (try #require($0["file"] as? String), try #require($0["delta_e2000"] as? Double))
            }
        }
        let (one, three) = (try values(reports[0]), try values(reports[1]))
        #expect(one.count == 12 && one.map(\.file) == three.map(\.file))
        for (first, second) in zip(one, three) { #expect(abs(first.error - second.error) < 1e-4) }
        let distances = try reports.map { try #require($0["frechet_distance"] as? Double) }
        #expect(abs(distances[0] - distances[1]) < 1e-3 * distances[0])
    }

    @Test func refuses() throws {
        let model = try bench.makeCheckpoint()
        try bench.makeDirectory("data")
        _ = try bench.makePhoto("data/a.png")
        let arguments = ["evaluate", model, "--data", "data", "--size", "32", "--features"]
        try bench.expect(
            65, arguments + [model], says: [model, "are missing", "pretrained_encoder.py --colors"])
        try bench.expect(65, arguments + ["absent.h5"], says: ["absent.h5"])
        try bench.makeFeatures("gray.h5") { state in
            state["encoder.conv_stem.weight"] = StoredTensor(
                shape: [32, 1, 3, 3], floats: [Float](repeating: 0, count: 288))
        }
        try bench.expect(
            65, arguments + ["gray.h5"],
            says: ["gray.h5", "0 are missing and 1 have other shapes", "conv_stem.weight"])
        try bench.makeFeatures("nan.h5") { state in
            state["encoder.bn1.bias"] = StoredTensor(
                shape: [32], floats: [Float](repeating: .nan, count: 32))
        }
        try bench.expect(
            65, arguments + ["nan.h5"], says: ["encoder.bn1.bias", "not finite floats"])
        try bench.expect(
            64, arguments + ["gray.h5", "--video"], says: ["--features and --old-photo have"])
        try bench.expect(64, "compare", model, "--features", "gray.h5", says: ["--photos"])
    }
}

import Foundation
import RetintCommandSupport
import RetintImages
import RetintTestSupport
import Testing

@testable import Retint

/// The proportions at which a network sees photos, and how its colors are enlarged.
@Suite(.sampled()) struct FittingTests {
    private static let model = Model(try! Checkpoint(.named("pico-unet"), seed: 1))

    private static func sizes(
        _ model: Model = model, size: Int? = nil, _ proportions: PhotoFitting.Proportions = .own
    ) throws -> NetworkSizes {
        try NetworkSizes(model, size: size, proportions)
    }

    @Test(arguments: [
        (100, 100, 256, 256), (3000, 2000, 320, 224), (2000, 3000, 224, 320), (4, 3, 288, 224),
        (1920, 1080, 352, 192), (100_000, 10, 1024, 32), (1, 5000, 32, 1024),
    ])
    func sidesAreMultiplesOfWhatTheNetworkNeeds(
        width: Int, height: Int, expectedWidth: Int, expectedHeight: Int
    ) throws {
        let multiple = try #require(try Self.model.requiredMultiple)
        #expect(multiple == 32)
        let size = try Self.sizes().size(forHeight: height, width: width)
        #expect((size.width, size.height) == (expectedWidth, expectedHeight))
        let square = try Self.sizes(size: nil, .square).size(forHeight: height, width: width)
        #expect((square.width, square.height) == (256, 256))
        let small = try Self.sizes(size: 64).size(forHeight: 2, width: 3)
        #expect((small.width, small.height) == (64, 64))
    }

    @Test func packagesKeepTheirSize() throws {
        let checkpoint = try Checkpoint(.named("pico-unet"), seed: 1)
        let package = Model(try checkpoint.package(ExportOptions()))
        #expect(try package.requiredMultiple == nil)
        let size = try Self.sizes(package).size(forHeight: 200, width: 300)
        #expect((size.width, size.height) == (256, 256))
    }

    /// Photos of many proportions from several tasks: more programs than are kept.
    @Test func proportionsDoNotDependOnWhatRunsBeside() async throws {
        let fitting = PhotoFitting(proportions: .own, enlargement: .guided)
        let photos = (0..<12).map { number in
            Image(
                width: 24 + 30 * (number % 4), height: 20 + 25 * (number % 3),
                pixels: (0..<3 * (24 + 30 * (number % 4)) * (20 + 25 * (number % 3))).map {
                    UInt8(truncatingIfNeeded: $0 &* 13 &+ number)
                })
        }
        let colorizer = try Colorizer(Self.model.onThreads(3), size: 64, fitting: fitting)
        let together = try await colorizer.colorize(photos)
        let alone = try Colorizer(Self.model.onThreads(1), size: 64, fitting: fitting)
        for (photo, colored) in zip(photos, together) {
            let single = try await alone.colorize(photo)
            #expect(single == colored)
        }
    }

    /// Where color changes with the lightness, a guided border is that of the large image.
    @Test func guidedColorsEndAtTheEdge() {
        let (side, large, edge) = (16, 128, 53)
        // The share of each small pixel that lies before the edge.
        let share = (0..<side * side).map { Float(min(max(edge - $0 % side * 8, 0), 8)) / 8 }
        let lightness = share.map { 20 + 60 * $0 }, a = share.map { 20 * $0 - 10 }
        let b = a.map { -$0 }
        let pixels = (0..<large * large).flatMap {
            [UInt8](repeating: $0 % large < edge ? 198 : 48, count: 3)
        }
        // The mean error beside the edge.
        func wrong(_ guide: [Float]?) -> Float {
            var image = Image(width: large, height: large, pixels: pixels)
            image.recolor(a: a, b: b, width: side, height: side, guide: guide)
            let colors = lab(fromRGB: image.pixels).a
            let near = colors.indices.filter { abs($0 % large - edge) < 8 }
            let sum = near.reduce(0) { $0 + abs(colors[$1] - ($1 % large < edge ? 10 : -10)) }
            return sum / Float(near.count)
        }
        #expect(wrong(lightness) < 0.5 * wrong(nil))
    }

    @Test func evaluatesAtThePhotosOwnSize() throws {
        let bench = try CommandBench()
        let model = try bench.makeCheckpoint()
        try bench.makeDirectory("data")
        for name in ["a.png", "b.png"] { _ = try bench.makePhoto("data/\(name)", width: 90) }
        let arguments = ["evaluate", model, "--data", "data", "--size", "64"]
        let plain = try bench.json(try bench.run(arguments + ["--json"]))
        #expect(plain["ab_error_at_edges"] == nil && plain["enlargement"] == nil)
        let own = try bench.json(
            try bench.run(arguments + ["--json", "--proportions", "own", "--enlarge", "guided"]))
        #expect(own["proportions"] as? String == "own")
        #expect(own["enlargement"] as? String == "guided")
        for column in [own, try #require(own["gray"] as? [String: Any])] {
            let edges = try #require(column["ab_error_at_edges"] as? Double)
            let bounds = try #require(column["confidence_95"] as? [String: [String: Any]])
            let low = try #require(bounds["low"]?["ab_error_at_edges"] as? Double)
            #expect(edges > 1 && low <= edges)
        }
        let table = try bench.run(arguments + ["--enlarge", "bilinear"])
        #expect(table.output.contains("2 photos at their own size, "))
        #expect(table.output.contains("ab error at edges"))
        try bench.expect(64, "evaluate", model, "--data", "data", "--enlarge", "none")
    }

    @Test func colorizeTakesBothChoices() throws {
        let bench = try CommandBench()
        let model = try bench.makeCheckpoint()
        let photo = try bench.makePhoto("a.png", width: 150)
        var files: [Data] = []
        for proportions in ["square", "own"] {
            for enlarge in ["bilinear", "guided"] {
                try bench.expect(
                    0, "colorize", model, photo, "-o", "out", "--proportions", proportions,
                    "--enlarge", enlarge, "--saturation", "4")
                files.append(try Data(contentsOf: URL(filePath: bench.path("out/a.png"))))
            }
        }
        #expect(Set(files).count == 4)
    }
}

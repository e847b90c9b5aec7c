import Foundation
import RetintCheckpoints
import RetintCommandSupport
import RetintExport
import RetintImages
import RetintTestSupport
import Testing

/// `retint verify` on photos, its bounds, and the page that it writes.
@Suite(.sampled()) struct VerifyPhotosTests {
    private let bench: CommandBench

    /// A checkpoint, its package in float16, and three photos in a directory.
    init() throws {
        bench = try CommandBench()
        let checkpoint = try Checkpoint(contentsOf: bench.path(bench.makeCheckpoint()))
        let source = ExportSource(
            checkpoint.network, colorizer: try checkpoint.network.make(),
            variables: checkpoint.variables)
        _ = try source.export(
            to: bench.path("half.mlpackage"),
            options: ExportOptions(precision: .float16, size: 64))
        try bench.makeDirectory("photos/more")
        for name in ["photos/a.png", "photos/b.jpg", "photos/more/c&d.png"] {
            _ = try bench.makePhoto(name, width: 40 + name.count)
        }
    }

    private func verify(_ arguments: String...) throws -> ProcessResult {
        try bench.run(["verify", "half.mlpackage", "--against", "model.h5"] + arguments)
    }

    @Test func aDirectoryOfPhotos() throws {
        let result = try verify("--photos", "photos", "--json")
        #expect(result.code == 0, "\(result.messages)")
        let report = try bench.json(result)
        let photos = try #require(report["photos"] as? [[String: Any]])
        let paths = photos.compactMap { $0["photo"] as? String }
        #expect(paths == ["photos/a.png", "photos/b.jpg", "photos/more/c&d.png"])
        let means = photos.compactMap { $0["delta_e2000_mean"] as? Double }
        let worst = try #require(zip(means, paths).max { $0.0 < $1.0 })
        #expect(report["worst_photo"] as? String == worst.1)
        let mean = try #require(report["delta_e2000_mean"] as? Double)
        #expect(abs(means.reduce(0, +) / 3 - mean) < 1e-9)
        let text = try verify("--photos", "photos", "--photo", "photos/a.png")
        #expect(text.output.contains("of 4 images") && text.output.contains("worst image: "))
    }

    @Test func jsonHasAllThatIsComputed() throws {
        let report = try bench.json(verify("--json"))
        let layers = try #require(report["layers"] as? [[String: Any]])
        #expect(layers.count > 60 && report["layers_compared"] as? Int == layers.count)
        for layer in layers {
            #expect(layer["name"] is String && layer["operation"] is String)
            #expect(layer["max_abs_value"] is Double && layer["share_of_float16_range"] is Double)
            #expect(layer["snr_db"] is Double && layer["within_tolerance"] is Bool)
        }
        let isPast = layers.contains { $0["within_tolerance"] as? Bool == false }
        #expect((report["first_past_tolerance"] != nil) == isPast)
        #expect(report["first_non_finite"] == nil)
        let output = try #require((report["outputs"] as? [String: [String: Any]])?["ab"])
        #expect(output["p99_abs_error"] is Double)
    }

    @Test func listsAllOnRequest() throws {
        let wide = ["--layer-min-snr", "1"]
        let short = try verify(wide[0], wide[1]).output.split(separator: "\n")
        let long = try verify("--layers", wide[0], wide[1]).output.split(separator: "\n")
        #expect(short.count < 40 && long.count > short.count + 60)
        #expect(long.contains { $0.contains("stage16_1_depthwise_0_conv2d") })
        #expect(short.contains { $0.contains("of float16's 65504") })
        #expect(short.contains { $0 == "all are within the tolerance" })
    }

    @Test(arguments: [
        ["--max-mean", "0"], ["--min-snr", "500"], ["--max-delta-e", "0"], ["--min-psnr", "500"],
        ["--layer-tolerance", "0"], ["--layer-min-snr", "500"], ["--atol", "0"],
    ])
    func everyBoundCanFail(_ bound: [String]) throws {
        let result = try bench.run(["verify", "half.mlpackage", "--against", "model.h5"] + bound)
        #expect(result.code == 2 && result.output.hasSuffix("FAILED\n"))
        let wide = bound[0].contains("min") ? "1" : "1000"
        let passed = try verify(bound[0], wide)
        #expect(passed.code == 0, "\(passed.output)")
    }

    @Test(arguments: [
        ["--max-mean", "-1"], ["--max-delta-e", "nan"], ["--layer-tolerance", "-1"],
        ["--layer-min-snr", "nan"], ["--compute", "half"],
    ])
    func wrongUsage(_ arguments: [String]) throws {
        let result = try bench.run(
            ["verify", "half.mlpackage", "--against", "model.h5"] + arguments)
        #expect(result.code == 64)
    }

    @Test func aPageNeedsNothingBesideIt() throws {
        let result = try verify("--photos", "photos", "--html", "page.html")
        #expect(result.code == 0)
        let page = try String(contentsOfFile: bench.path("page.html"), encoding: .utf8)
        #expect(page.components(separatedBy: "src=\"data:image/jpeg;base64,").count == 13)
        #expect(page.contains("<svg") && page.contains("stage16_1_depthwise_0_conv2d"))
        #expect(page.contains("c&amp;d.png") && !page.contains("c&d.png"))
        #expect(page.contains("not Apple&#39;s") || page.contains("not Apple's"))
        for foreign in ["http:", "https:", "<script", "<link", "url("] {
            #expect(!page.contains(foreign), "\(foreign)")
        }
        // What fails is shown as well, in place of the page that was there.
        #expect(try verify("--max-mean", "0", "--html", "page.html").code == 2)
        let failed = try String(contentsOfFile: bench.path("page.html"), encoding: .utf8)
        #expect(failed.contains("FAILED") && failed.contains("the mean |error|"))
    }

    /// Photos may be named by a list, and a page shows the twelve that differ most, in that order.
    @Test func aPageShowsTheImagesThatDifferMost() throws {
        let names = try (1...14).map { index in
            let pixels = (0..<60 * 40 * 3).map { UInt8($0 * (2 * index + 1) % 251) }
            let image = Image(width: 60, height: 40, pixels: pixels)
            try image.write(to: bench.path("\(index).png"))
            return "\(index).png"
        }
        _ = try bench.write(Data(names.joined(separator: "\n").utf8), to: "list.txt")
        let result = try verify("--photos", "list.txt", "--html", "page.html")
        #expect(result.code == 0, "\(result)")
        let page = try String(contentsOfFile: bench.path("page.html"), encoding: .utf8)
        #expect(page.contains("2 more images, which differ less, were compared"))
        let shown = page.components(separatedBy: "<img").count - 1
        #expect(shown == 12 * 4)
        let means = page.matches(of: /ΔE2000 mean ([0-9.e-]+)/).compactMap { Double($0.1) }
        #expect(means.count == 12 && means == means.sorted(by: >), "\(means)")
        #expect(Set(means).count > 6, "\(means)")
    }

    @Test func aPageOverwritesNoInput() throws {
        let before = try Data(contentsOf: URL(fileURLWithPath: bench.path("model.h5")))
        try bench.expect(
            64, "verify", "half.mlpackage", "--against", "model.h5", "--html", "model.h5",
            says: ["model.h5"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: bench.path("model.h5"))) == before)
        try bench.expect(
            1, "verify", "half.mlpackage", "--against", "model.h5", "--html", "/proc/x.html",
            says: ["/proc/x.html"])
    }

    @Test func photosThatCannotBeReadStopIt() throws {
        _ = try bench.write(Data("no photo".utf8), to: "photos/more/e.png")
        try bench.expect(
            65, "verify", "half.mlpackage", "--against", "model.h5", "--photos", "photos",
            "--html", "page.html", says: ["photos/more/e.png"])
        #expect(!bench.files.contains("page.html"))
        try bench.makeDirectory("empty")
        try bench.expect(
            65, "verify", "half.mlpackage", "--against", "model.h5", "--photos", "empty",
            says: ["empty: contains no photo"])
        try bench.expect(
            64, "verify", "half.mlpackage", "--reference", "model.h5", "--photos", "photos",
            says: ["need --against"])
    }
}

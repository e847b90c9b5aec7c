import Foundation
import RetintCommandSupport
import RetintImages
import RetintTestSupport
import Testing

@Suite(.sampled()) struct EvaluateTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    @Test func noPageReplacesAPhoto() throws {
        let model = try bench.makeCheckpoint()
        try bench.makeDirectory("d")
        let photo = bench.path(try bench.makePhoto("d/a.png"))
        let before = try Data(contentsOf: URL(filePath: photo))
        let page = "page.html"
        try FileManager.default.createSymbolicLink(
            atPath: bench.path(page), withDestinationPath: photo)
        for command in [["evaluate", model], ["compare", model, model, "--rounds", "1"]] {
            let command = command + ["--data", "d", "--size", "64", "--html"]
            try bench.expect(64, command + [page], says: [page, "input itself"])
            try bench.expect(64, command + ["d/a.png"], says: ["d/a.png", "must end in .html"])
        }
        try bench.expect(
            64, "train", "--set", "data.train=\(bench.path("d"))", "data.crop=32", "--samples",
            "d/a.png", says: ["d/a.png", "input itself"])
        #expect(try Data(contentsOf: URL(filePath: photo)) == before)
    }

    @Test func grayPhotosAreSaid() throws {
        let model = try bench.makeCheckpoint()
        try bench.makeDirectory("g/deep")
        for name in ["g/a.png", "g/deep/b.png"] {
            let pixels = (0..<64 * 64).flatMap { [UInt8](repeating: UInt8($0 % 251), count: 3) }
            try Image(width: 64, height: 64, pixels: pixels).write(to: bench.path(name))
        }
        for command in [["evaluate", model], ["compare", model, model, "--rounds", "1"]] {
            try bench.expect(
                0, command + ["--data", "g", "--size", "64"],
                says: ["g: the photos have no colors", "2 photos, 1 of them in subfolders of g"])
        }
    }

    @Test func findsPhotosInSubfolders() throws {
        let model = try bench.makeCheckpoint()
        try bench.makeDirectory("data/deep/deeper")
        _ = try bench.makePhoto("data/a.png")
        _ = try bench.makePhoto("data/deep/deeper/b.JPG")
        _ = try bench.write(Data("a note".utf8), to: "data/readme.txt")
        let result = try bench.expect(
            0, "evaluate", model, "--data", "data", "--json", "--size", "64")
        let report = try bench.json(result)
        #expect(report["images"] as? Int == 2)
        let gray = try #require(report["gray"] as? [String: Any])
        let mean = try #require(report["mean_color"] as? [String: Any])
        for key in [
            "psnr_db", "delta_e2000", "colorfulness", "colorfulness_difference", "ssim",
            "ab_error", "ab_auc", "ab_auc_rebalanced", "colorfulness_bias", "chroma_error",
            "chroma_bias", "hue_error",
        ] {
            for column in [report, gray, mean] {
                let value = try #require(column[key] as? Double, "\(key)")
                let bounds = try #require(column["confidence_95"] as? [String: [String: Any]])
                let low = try #require(bounds["low"]?[key] as? Double)
                let high = try #require(bounds["high"]?[key] as? Double)
                #expect(low <= value && value <= high, "\(key): \(low) \(value) \(high)")
            }
        }
        let lightness = try #require(report["ab_error_by_lightness"] as? [String: Double])
        #expect(Set(lightness.keys).isSubset(of: ["darkest", "dark", "light", "lightest"]))
        #expect(lightness.count > 1)
        let share = try #require(report["better_than_gray"] as? Double)
        #expect([0, 0.5, 1].contains(share) && gray["better_than_gray"] == nil)
        let bounds = try #require(report["confidence_95"] as? [String: [String: Any]])
        #expect(bounds["low"]?["better_than_gray"] is Double)
        // A quarter of the resamples of two photos has only the first, a quarter only the second.
        let single = try #require(report["photos"] as? [[String: Any]]).compactMap {
            $0["delta_e2000"] as? Double
        }
        #expect(bounds["low"]?["delta_e2000"] as? Double == single.min())
        #expect(bounds["high"]?["delta_e2000"] as? Double == single.max())
        let original = try #require(report["original"] as? [String: Double])
        #expect(try #require(original["near_gray_share"]) < 0.2)
        #expect(try #require((gray["near_gray"] as? [String: Double])?["chroma"]) < 0.1)
        // Gray has no chroma, so that all of its error is chroma's.
        let errors = try ["chroma_bias", "chroma_error", "ab_error"].map {
            try #require(gray[$0] as? Double)
        }
        #expect(abs(errors[0] + errors[1]) < 0.01 && abs(errors[1] - errors[2]) < 0.01)
        let photos = try #require(report["photos"] as? [[String: Any]])
        #expect(photos.map { $0["file"] as? String } == ["data/a.png", "data/deep/deeper/b.JPG"])
        #expect(photos.allSatisfy { $0["delta_e2000"] is Double })
        // Fresh weights answer almost gray, so the model is about as far off as gray is.
        let pair = try [report, gray].map { try #require($0["delta_e2000"] as? Double) }
        #expect(pair[1] > 5 && abs(pair[0] - pair[1]) < 3)
        let table = try bench.expect(0, "evaluate", model, "--data", "data", "--size", "64")
        #expect(table.output.hasPrefix("2 photos at 64 × 64\n"))
        let paper = try bench.expect(
            0, "evaluate", model, "--data", "data", "--size", "64", "--metrics", "paper")
        let names = paper.output.split(separator: "\n").dropFirst(2).map { $0.prefix(14) }
        #expect(names.count == 8 && names.contains("CF of BasicSR "))
    }

    @Test func skinIsMeasuredByTone() throws {
        let model = try bench.makeCheckpoint()
        try bench.makeDirectory("people")
        for (name, color) in [("light", [224, 172, 140]), ("dark", [96, 60, 42])] {
            try Image(
                width: 64, height: 64, red: UInt8(color[0]), green: UInt8(color[1]),
                blue: UInt8(color[2])
            ).write(to: bench.path("people/\(name).png"))
        }
        var both = try Image(contentsOf: bench.path("people/light.png"))
        let dark = try Image(contentsOf: bench.path("people/dark.png"))
        for pixel in 0..<64 * 64 where pixel % 64 >= 32 {
            both.pixels.replaceSubrange(3 * pixel..<3 * pixel + 3, with: dark.pixels.prefix(3))
        }
        try both.write(to: bench.path("people/light and dark.png"))
        let arguments = ["evaluate", model, "--data", "people", "--size", "64", "--skin"]
        let report = try bench.json(try bench.expect(0, arguments + ["--json"]))
        let skin = try #require(report["skin"] as? [String: Double])
        #expect(skin.keys.sorted() == ["dark", "light"])
        let table = try bench.expect(0, arguments).output
        #expect(table.contains("ΔE2000, light skin") && !table.contains("tan skin"))
        #expect(table.contains("skin, ΔE2000 less than gray's by a share of: light "))
        try bench.expect(
            64, arguments + ["--video"], says: ["--skin, --skin-boxes and --metrics"])
        // A box around half of the light photo, by another path to it; none in the dark one.
        let header = "photo\tx\ty\twidth\theight\n"
        try bench.makeDirectory("lists")
        func boxes(_ rows: String) throws -> [String] {
            let table = try bench.write(Data((header + rows).utf8), to: "lists/boxes.tsv")
            return arguments.dropLast() + ["--skin-boxes", table]
        }
        let box = "../lists/../people/light.png\t0.25\t0\t0.5\t1\n"
        let boxed = try bench.json(try bench.expect(0, try boxes(box) + ["--json"]))
        let light = try #require(boxed["skin"] as? [String: Double])
        #expect(light.keys.sorted() == ["light"])
        #expect(abs(try #require(light["light"]) - (try #require(skin["light"]))) < 0.5)
        let right = try bench.json(
            try bench.expect(
                0, try boxes("../people/light and dark.png\t0.5\t0\t0.5\t1\n") + ["--json"]))
        #expect(try #require(right["skin"] as? [String: Double]).keys.sorted() == ["dark"])
        try bench.expect(64, try boxes(box) + ["--skin"], says: ["omit it with --skin-boxes"])
        for (rows, rule) in [
            ("other.png\t0\t0\t1\t1\n", "none of the photos has a box"),
            ("a.png\t0\t0\t1\n", "line 2: it does not have a photo and four numbers"),
            (box + "a.png\t0.5\t0\t0.6\t1\n", "line 3: it is not a box within the photo"),
            ("a.png\t0\t0\tnan\t1\n", "line 2: it is not a box"),
            ("a.png\t0\t0\t0\t1\n", "line 2: it is not a box"),
        ] {
            try bench.expect(65, try boxes(rows), says: [rule])
        }
        let other = try bench.write(Data("photo,x\n".utf8), to: "boxes.tsv")
        try bench.expect(
            65, arguments.dropLast() + ["--skin-boxes", other],
            says: ["line 1: it is not the header"])
    }

    @Test func showsTheModelOldPhotos() throws {
        let model = try bench.makeLivelyCheckpoint()
        try bench.makeDirectory("data")
        for side in [40, 60] { _ = try bench.makePhoto("data/\(side).png", height: side) }
        let arguments = ["evaluate", model, "--data", "data", "--size", "32", "--json"]
        for extra in [[], ["--enlarge", "guided"]] {
            let reports = try [[], ["--old-photo", "all"], ["--old-photo", "blur,grain"]].map {
                try bench.json(try bench.expect(0, arguments + extra + $0))
            }
            let errors = try reports.map { try #require($0["ab_error"] as? Double) }
            #expect(Set(errors).count == 3)
            let baselines = reports.map { ($0["gray"] as? [String: Any])?["ab_error"] as? Double }
            #expect(baselines[0] != nil && Set(baselines).count == 1)
            #expect(reports[0]["old_photo"] == nil)
            #expect(reports[2]["old_photo"] as? [String] == ["blur", "grain"])
            // The lightness stays the photo's own.
            let ssim = try reports.map { try #require($0["ssim"] as? Double) }
            #expect(ssim[1] > 0.3)
        }
        let again = try bench.expect(0, arguments + ["--old-photo", "all"])
        #expect(try bench.expect(0, arguments + ["--old-photo", "all"]).output == again.output)
        let table = try bench.expect(
            0, "evaluate", model, "--data", "data", "--size", "32", "--old-photo", "dust")
        #expect(table.output.hasPrefix("2 photos at 32 × 32, damaged by dust\n"))
        try bench.expect(
            64, arguments + ["--old-photo", "blur,rain"],
            says: ["--old-photo rain: unknown damage; use all, or some of sepia,fading,blur,grain"])
        try bench.expect(64, arguments + ["--old-photo", ""], says: ["unknown damage"])
    }

    @Test func writesAPage() throws {
        let model = try bench.makeCheckpoint()
        try bench.makeDirectory("data")
        _ = try bench.makePhoto("data/a.png")
        try bench.expect(
            0, "evaluate", model, "--data", "data", "--size", "32", "--html", "page.html")
        let page = try String(contentsOfFile: bench.path("page.html"), encoding: .utf8)
        #expect(page.contains("ab AuC rebalanced") && page.contains("<h3>a.png "))
        #expect(!page.contains("data/a.png"))
        #expect(page.components(separatedBy: "data:image/jpeg;base64,").count == 4)
        #expect(!page.contains("http://") && !page.contains("https://"))
    }

    @Test func countsGrayPhotosAsColoredRight() throws {
        let model = try bench.makeCheckpoint()
        try bench.makeDirectory("data")
        try FileManager.default.copyItem(
            atPath: goldenPath("gray.png", of: "CommandColorTests"),
            toPath: bench.path("data/gray.png"))
        let result = try bench.expect(
            0, "evaluate", model, "--data", "data", "--json", "--size", "32")
        let gray = try #require(try bench.json(result)["gray"] as? [String: Any])
        #expect(try #require(gray["psnr_db"] as? Double) > 45)
        #expect(try #require(gray["ab_error"] as? Double) < 0.1)
    }

    @Test func refusesFoldersWithoutPhotos() throws {
        let model = try bench.makeCheckpoint()
        try bench.makeDirectory("empty")
        try bench.expect(
            65, "evaluate", model, "--data", "empty", says: ["empty: contains no photo"])
        try bench.expect(65, "evaluate", model, "--data", "absent", says: ["absent", "No such"])
        try bench.expect(65, "evaluate", model, "--data", model, says: ["is not a packed dataset"])
    }

    @Test func namesBadPhotos() throws {
        let model = try bench.makeCheckpoint()
        try bench.makeDirectory("data")
        _ = try bench.makePhoto("data/a.png")
        _ = try bench.write(Data("no photo".utf8), to: "data/b.jpg")
        let result = try bench.expect(
            65, "evaluate", model, "--data", "data", "--size", "32", "--json",
            says: ["data/b.jpg", "1 of 2 photos"])
        #expect(try bench.json(result)["images"] as? Int == 1)
    }
}

@Suite(.sampled()) struct BenchmarkTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    @Test(arguments: ["inference", "training"])
    func measures(_ mode: String) throws {
        let result = try bench.expect(
            0, "benchmark", "mobile-unet", "--mode", mode, "--size", "64", "--batch", "2",
            "--runs", "2", "--threads", "1", "--operations", "--json")
        let report = try bench.json(result)
        for key in [
            "median_seconds", "gflops", "images_per_second", "peak_bytes", "sgemm_gflops",
        ] {
            #expect(try #require(report[key] as? Double) > 0, "\(key)")
        }
        #expect(report["threads"] as? Int == 1)
        #expect(report["blas_core"] is String)
        #expect(["retint", "OpenBLAS"].contains(report["sgemm_kernels"] as? String))
        let operations = try #require(report["operations"] as? [[String: Any]])
        #expect(operations.contains { ($0["name"] as? String)?.hasPrefix("conv2d") == true })
    }

    @Test func measuresFiles() throws {
        let model = try bench.makeCheckpoint()
        let result = try bench.expect(0, "benchmark", model, "--size", "32", "--runs", "1")
        #expect(result.output.hasPrefix("model.h5: inference, batch 1, 32 × 32"))
        for option in [["--depth", "0.5"], ["--temperature", "nan"]] {
            try bench.expect(
                64, ["benchmark", model, "--size", "32"] + option,
                says: ["model.h5: a file has its own"])
        }
        // As little memory as no network runs in.
        try bench.expect(
            65, "benchmark", model, "--size", "256", "--memory-limit", "1",
            says: ["of the limit of 1 MiB are left"])
        try bench.expect(
            64, "benchmark", model, "--memory-limit", "0",
            says: ["--memory-limit 0: must be from 1 to"])
    }

    /// Kernels that OpenBLAS has for older processors are not used.
    @Test func namesTheKernelsOfProducts() throws {
        let flags = try String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
        guard flags.contains(" avx512f ") || flags.contains(" avx2 ") else { return }
        let (slow, fast) =
            flags.contains(" avx512f ") ? ("Haswell", "SkylakeX") : ("Sandybridge", "Haswell")
        for (core, kernels) in [(slow, "retint"), (fast, "OpenBLAS")] {
            let result = try bench.run(
                ["benchmark", "mobile-unet", "--size", "32", "--runs", "1"],
                environment: ["OPENBLAS_CORETYPE": core])
            #expect(result.output.contains("(by \(kernels), OpenBLAS core \(core))"))
        }
    }

    @Test func refuses() throws {
        try bench.expect(65, "benchmark", "absent", says: ["absent", "mobile-unet"])
        try bench.expect(64, "benchmark", "mobile-unet", "--batch", "0", says: ["--batch"])
        for mode in ["inference", "training"] {
            try bench.expect(
                64, "benchmark", "mobile-unet", "--mode", mode, "--size", "100",
                says: ["multiple of 32"])
        }
        try bench.expect(64, "benchmark", "mobile-unet", "--mode", "sleeping", says: ["Usage"])
    }
}

@Suite(.sampled()) struct FrameTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    @Test func answersHelpAndVersion() throws {
        for flag in ["--help", "--version"] {
            let result = try bench.run([flag])
            #expect(result.code == 0)
            #expect(!result.output.isEmpty && result.messages.isEmpty)
        }
        try bench.expect(64, "paint", says: ["no command paint", "--help lists"])
    }

    /// A disk that is full shows when results are written, not before.
    @Test func saysWhenResultsAreLost() throws {
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let model = try bench.makeCheckpoint()
        for arguments in [
            ["--version"], ["benchmark", model, "--size", "32", "--runs", "1", "--json"],
        ] {
            #expect(try bench.run(arguments, output: full).code == 1)
        }
    }
}

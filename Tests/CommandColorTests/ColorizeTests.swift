import Foundation
import Retint
import RetintCheckpoints
import RetintColor
import RetintCommandSupport
import RetintImages
import RetintTensorFiles
import RetintTestSupport
import Testing

@Suite(.sampled()) struct ColorizeTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    @Test func writesPhotosAtTheirSize() throws {
        let model = try bench.makeCheckpoint()
        let photos = [
            try bench.makePhoto("a.png"), try bench.makePhoto("b.jpg", width: 300, height: 17),
        ]
        let result = try bench.expect(
            0, "colorize", model, photos[0], photos[1], "-o", "out/deep", "--compare")
        #expect(
            result.output == """
                out/deep/a.png
                out/deep/a-compare.png
                out/deep/b.jpg
                out/deep/b-compare.jpg

                """)
        for (name, width, height) in [
            ("a.png", 60, 40), ("b.jpg", 300, 17), ("a-compare.png", 3 * 60 + 16, 40),
            ("b-compare.jpg", 3 * 300 + 16, 17),
        ] {
            let image = try Image(contentsOf: bench.path("out/deep/\(name)"))
            #expect((image.width, image.height) == (width, height), "\(name)")
        }
    }

    /// A new folder appears with its first photo; one that was there stays.
    @Test func aFolderWithoutPhotosIsNotLeft() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(65, "colorize", model, "missing.png", "-o", "out", says: ["missing.png"])
        #expect(!bench.files.contains { $0.hasPrefix("out") })
        try bench.makeDirectory("there")
        try bench.expect(65, "colorize", model, "missing.png", "-o", "there")
        #expect(bench.files.contains { $0.hasPrefix("there") })
    }

    @Test func stripShowsTheModelBeforeIt() throws {
        var checkpoint = try Checkpoint(.named("mobile-unet"), seed: 1)
        checkpoint.state["head.0.bias"] = StoredTensor(shape: [2], floats: [0.1, 0.15])
        try checkpoint.write(to: bench.path("warm.h5"))
        let model = try bench.makeCheckpoint()
        let photo = try bench.makePhoto("a.png")
        try bench.expect(
            0, "colorize", model, photo, "-o", "after", "--compare", "--before", "warm.h5")
        try bench.expect(0, "colorize", "warm.h5", photo, "-o", "before")

        let strip = try Image(contentsOf: bench.path("after/a-compare.png"))
        let columns = try [
            Image(contentsOf: bench.path(photo)).gray,
            Image(contentsOf: bench.path("before/a.png")),
            Image(contentsOf: bench.path("after/a.png")),
            Image(contentsOf: bench.path(photo)),
        ]
        #expect(columns[1] != columns[2])
        #expect(strip == Image.sideBySide(columns))

        let result = try bench.expect(
            64, "colorize", model, photo, "-o", "after", "--before", "warm.h5")
        #expect(result.messages.contains("--compare"))
    }

    @Test func keepsLightness() throws {
        let model = try bench.makeCheckpoint()
        let photo = try bench.makePhoto("a.png")
        try bench.expect(0, "colorize", model, photo, "-o", "out", "--size", "64")
        let colored = try Image(contentsOf: bench.path("out/a.png"))
        let original = try Image(contentsOf: bench.path(photo))
        // Fresh weights answer nearly gray: L is the luminance that the original has.
        for start in stride(from: 0, to: original.pixels.count, by: 3) {
            let pair = [original, colored].map { luminance($0.pixels[start..<start + 3]) }
            #expect(abs(pair[0] - pair[1]) < 0.02)
        }
    }

    @Test func saturationScalesTheColors() throws {
        // With a bias in its last layer the network answers one color for all pixels.
        var checkpoint = try Checkpoint(.named("mobile-unet"), seed: 1)
        checkpoint.state["head.0.bias"] = StoredTensor(shape: [2], floats: [0.1, 0.15])
        try checkpoint.write(to: bench.path("warm.h5"))
        let photo = try bench.makePhoto("a.png")
        let chromas = try ["0", "1", "2"].map { factor in
            try bench.expect(
                0, "colorize", "warm.h5", photo, "-o", factor, "--saturation", factor, "--size",
                "64")
            let planes = lab(fromRGB: try Image(contentsOf: bench.path("\(factor)/a.png")).pixels)
            // Where L is in the middle, no color leaves sRGB.
            let chosen = planes.l.indices.filter { (45...60).contains(planes.l[$0]) }
            #expect(chosen.count > 100)
            return chosen.reduce(Float(0)) { $0 + abs(planes.b[$1]) } / Float(chosen.count)
        }
        #expect(chromas[0] < 0.5 && chromas[1] > 12)
        #expect(abs(chromas[2] / chromas[1] - 2) < 0.05)
        try bench.expect(
            64, "colorize", "warm.h5", photo, "-o", "x", "--saturation", "5",
            says: ["must be from 0 to 4"])
    }

    @Test func vividColorsAreThoseOfTheirOwnSaturation() throws {
        let options = ColorizerOptions(width: 0.25, chromaScale: 0.5, vividChromaScale: 2)
        var checkpoint = try Checkpoint(.named("class-unet", options), seed: 3)
        try checkpoint.write(to: bench.path("two.h5"))
        checkpoint.network = .named("class-unet", .init(width: 0.25, chromaScale: 2))
        try checkpoint.write(to: bench.path("one.h5"))
        let photo = try bench.makePhoto("a.png")
        func colored(_ model: String, _ style: String...) throws -> Image {
            let folder = (["colored", model] + style).joined(separator: "-")
            try bench.expect(0, ["colorize", model, photo, "-o", folder, "--size", "64"] + style)
            return try Image(contentsOf: bench.path("\(folder)/a.png"))
        }
        let vivid = try colored("two.h5", "--style", "vivid")
        #expect(try vivid == colored("one.h5"))
        #expect(try vivid != colored("two.h5"))
        #expect(try colored("two.h5") == colored("two.h5", "--style", "accurate"))
        try bench.expect(
            64, "colorize", "one.h5", photo, "-o", "x", "--style", "vivid",
            says: ["one.h5: has no vivid colors", "--vivid-saturation"])
    }

    private func luminance(_ rgb: ArraySlice<UInt8>) -> Double {
        let linear = rgb.map { value in
            let level = Double(value) / 255
            return level <= 0.04045 ? level / 12.92 : pow((level + 0.055) / 1.055, 2.4)
        }
        return 0.212671 * linear[0] + 0.715160 * linear[1] + 0.072169 * linear[2]
    }

    @Test(arguments: ["gray.png", "gray.jpg", "cmyk.jpg", "palette.png", "one.png"])
    func takesPhotosOfAllKinds(_ name: String) throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(
            0, "colorize", model, goldenPath(name), "-o", "out", "--compare", "--size", "64")
        let photo = try Image(contentsOf: goldenPath(name))
        let colored = try Image(contentsOf: bench.path("out/\(name)"))
        #expect((colored.width, colored.height) == (photo.width, photo.height))
    }

    @Test func goesOnPastBadPhotos() throws {
        let model = try bench.makeCheckpoint()
        let good = try bench.makePhoto("good.png")
        let text = try bench.write(Data("no photo".utf8), to: "text.jpg")
        let whole = try Data(contentsOf: URL(fileURLWithPath: bench.path(good)))
        let cut = try bench.write(whole.prefix(whole.count / 2), to: "cut.png")
        let result = try bench.expect(
            65, "colorize", model, text, cut, "absent.png", good, "-o", "out", "--size", "64",
            says: ["text.jpg: not an image", "cut.png", "absent.png", "3 of 4 photos"])
        #expect(result.output == "out/good.png\n")
        #expect(bench.files.filter { $0.hasPrefix("out/") } == ["out/good.png"])
    }

    @Test func neverOverwritesAPhoto() throws {
        let model = try bench.makeCheckpoint()
        let photo = try bench.makePhoto("a.png")
        try bench.makeDirectory("b")
        _ = try bench.makePhoto("b/a.png")
        let before = try Data(contentsOf: URL(fileURLWithPath: bench.path(photo)))
        try bench.expect(64, "colorize", model, photo, "-o", ".", says: ["input itself"])
        try bench.expect(
            64, "colorize", model, photo, "b/a.png", "-o", "out", says: ["both be written"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: bench.path(photo))) == before)
        #expect(!bench.files.contains("out"))
    }

    /// An image of the copy's name beside the photo may be another photo.
    @Test func neighborsStay() throws {
        let model = try bench.makeCheckpoint()
        let photo = try Data(
            contentsOf: URL(fileURLWithPath: goldenPath("bmp-24.bmp", of: "ImagesTests")))
        _ = try bench.write(photo, to: "k.bmp")
        let color = ["colorize", model, "k.bmp", "--size", "64", "-o"]
        try bench.expect(0, color + ["."])
        let copy = try Data(contentsOf: URL(fileURLWithPath: bench.path("k.png")))
        try bench.expect(64, color + ["."], says: ["k.png", "beside k.bmp", "another folder"])
        try bench.expect(0, color + [".", "--skip-existing"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: bench.path("k.png"))) == copy)
        // A folder for copies may have those of an earlier run, and a file is named on purpose.
        for output in ["out", "out", "k.png"] { try bench.expect(0, color + [output]) }
        let twice = try bench.expect(
            0, "colorize", model, "k.bmp", "k.bmp", "--size", "64", "-o", "twice")
        #expect(twice.output == "twice/k.png\n")
    }

    @Test func photosOfOneNameAndOtherFormatsKeepTheirs() throws {
        let model = try bench.makeCheckpoint()
        try bench.makeDirectory("in")
        _ = try bench.makePhoto("in/k.png")
        for format in ["bmp-24.bmp", "tiff-pages.tif"] {
            let path = goldenPath(format, of: "ImagesTests")
            let photo = try Data(contentsOf: URL(fileURLWithPath: path))
            _ = try bench.write(photo, to: "in/k.\(format.suffix(3))")
        }
        try bench.expect(0, "colorize", model, "in", "-o", "out", "--compare", "--size", "64")
        let names = ["k.bmp", "k", "k.tif"].flatMap { ["out/\($0)-compare.png", "out/\($0).png"] }
        #expect(bench.files.filter { $0.hasPrefix("out/") }.sorted() == names.sorted())
    }

    @Test func refusesOtherModels() throws {
        let model = try bench.makeCheckpoint()
        let weights = try bench.makeWeights()
        let photo = try bench.makePhoto("a.png")
        let whole = try Data(contentsOf: URL(fileURLWithPath: bench.path(model)))
        let cut = try bench.write(whole.prefix(whole.count - 1), to: "cut.h5")
        let text = try bench.write(Data("text".utf8), to: "text.h5")
        try bench.makeDirectory("empty.mlpackage")
        let before = bench.files
        for (model, words) in [
            ("absent.h5", "No such file"), (cut, "truncated"), (text, "is not an HDF5"),
            (weights, "retint import"), ("empty.mlpackage", "empty.mlpackage"),
        ] {
            try bench.expect(
                65, "colorize", model, photo, "-o", "out", says: [model, words])
        }
        for size in ["0", "-3", "100"] {
            try bench.expect(64, "colorize", model, photo, "-o", "out", "--size=\(size)")
        }
        #expect(bench.files == before)
    }

    @Test func failsOnAFullDisk() throws {
        let model = try bench.makeCheckpoint()
        let photo = try bench.makePhoto("a.png", width: 400, height: 300)
        try bench.makeDirectory("small")
        let mount = try mountSmall(bench.path("small"))
        guard mount else { return }
        defer { unmount(bench.path("small")) }
        try bench.expect(
            1, "colorize", model, photo, "-o", "small", says: ["No space left"])
        let weights = try bench.makeWeights()
        try bench.expect(
            1, "import", weights, "--architecture", "mobile-unet", "-o", "small/model.h5",
            says: ["small/model.h5"])
        #expect(bench.files.filter { $0.hasPrefix("small/") }.isEmpty)
    }

    /// A file system of a few kilobytes; false where that is not allowed.
    private func mountSmall(_ path: String) throws -> Bool {
        getuid() == 0
            && shell("/bin/mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", path) == 0
    }

    private func unmount(_ path: String) {
        _ = shell("/bin/umount", path)
    }

    private func shell(_ path: String, _ arguments: String...) -> Int32 {
        (try? runProcess(URL(filePath: path), arguments).code) ?? 1
    }
}

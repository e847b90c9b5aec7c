import Foundation
import Retint
import RetintCheckpoints
import RetintColor
import RetintCommandSupport
import RetintImages
import RetintTensorFiles
import RetintTestSupport
import Testing

/// `retint colorize` where only a part of a photo gets new colors.
@Suite(.sampled()) struct ColorizeMaskTests {
    private let bench: CommandBench
    private let photo: String
    private let original: Image
    /// The photo colored as a whole.
    private let colored: Image

    init() throws {
        bench = try CommandBench()
        // With a bias in its last layer the network answers one color for all pixels.
        var checkpoint = try Checkpoint(.named("mobile-unet"), seed: 1)
        checkpoint.state["head.0.bias"] = StoredTensor(shape: [2], floats: [0.1, 0.15])
        try checkpoint.write(to: bench.path("warm.h5"))
        photo = try bench.makePhoto("a.png")
        original = try Image(contentsOf: bench.path(photo))
        try bench.expect(0, "colorize", "warm.h5", photo, "-o", "whole", "--size", "64")
        colored = try Image(contentsOf: bench.path("whole/a.png"))
    }

    /// A gray image of a function of the position.
    private func makeMask(
        _ name: String, width: Int = 60, height: Int = 40, _ level: (Int, Int) -> Int
    ) throws -> String {
        let pixels = (0..<width * height).flatMap {
            [UInt8](repeating: UInt8(level($0 % width, $0 / width)), count: 3)
        }
        try Image(width: width, height: height, pixels: pixels).write(to: bench.path(name))
        return name
    }

    private func colorize(_ options: String...) throws -> Image {
        let all = ["colorize", "warm.h5", photo, "-o", "out", "--size", "64"] + options
        let result = try bench.run(all)
        #expect(result.code == 0, "\(result.messages)")
        return try Image(contentsOf: bench.path("out/a.png"))
    }

    private func bytes(_ image: Image, x: Int, y: Int) -> ArraySlice<UInt8> {
        let start = 3 * (y * image.width + x)
        return image.pixels[start..<start + 3]
    }

    @Test func whiteIsColoredAndBlackIsKept() throws {
        let mask = try makeMask("m.png") { x, _ in x < 20 ? 0 : x < 40 ? 128 : 255 }
        let result = try colorize("--mask", mask)
        let share = Float(128) / 255
        let (own, new, found) = (
            lab(fromRGB: original.pixels), lab(fromRGB: colored.pixels),
            lab(fromRGB: result.pixels)
        )
        var checked = 0
        for y in 0..<40 {
            for x in 0..<20 { #expect(bytes(result, x: x, y: y) == bytes(original, x: x, y: y)) }
            for x in 40..<60 { #expect(bytes(result, x: x, y: y) == bytes(colored, x: x, y: y)) }
            for x in 20..<40 {
                let pixel = 60 * y + x
                guard (35...70).contains(own.l[pixel]), abs(own.a[pixel]) < 40,
                    abs(own.b[pixel]) < 40
                else { continue }
                checked += 1
                let expected = own.b[pixel] + (new.b[pixel] - own.b[pixel]) * share
                #expect(abs(found.b[pixel] - expected) < 1.5)
                #expect(abs(found.l[pixel] - own.l[pixel]) < 0.7)
            }
        }
        #expect(checked > 50)
    }

    @Test func masksAreTurnedAsPhotosAre() throws {
        let names = ["jpg", "png"].map { goldenPath("mask-turned.\($0)") }
        for name in names {
            let result = try colorize("--mask", name)
            // White is the left third once it is upright.
            for y in stride(from: 0, to: 40, by: 5) {
                #expect(bytes(result, x: 3, y: y) == bytes(colored, x: 3, y: y))
                #expect(bytes(result, x: 50, y: y) == bytes(original, x: 50, y: y))
            }
        }
    }

    @Test func featherSoftensTheEdge() throws {
        let mask = try makeMask("m.png") { x, _ in x < 30 ? 0 : 255 }
        let hard = try colorize("--mask", mask)
        #expect(bytes(hard, x: 29, y: 20) == bytes(original, x: 29, y: 20))
        let soft = try colorize("--mask", mask, "--feather", "2")
        #expect(bytes(soft, x: 29, y: 20) != bytes(original, x: 29, y: 20))
        #expect(bytes(soft, x: 10, y: 20) == bytes(original, x: 10, y: 20))
        #expect(bytes(soft, x: 30, y: 20) != bytes(colored, x: 30, y: 20))
        #expect(soft != hard)
    }

    @Test func instancesAreChosen() throws {
        for name in ["instances8.png", "instances16.png", "instances-palette.png"] {
            let path = goldenPath(name)
            let result = try colorize("--mask", path, "--instances", "1,3")
            // Columns of 15 pixels: 0, 1, 2 and 3, in the 16-bit file 300 for 3.
            guard name != "instances16.png" else { continue }
            for (x, isNew) in [(5, false), (20, true), (40, false), (50, true)] {
                let expected = isNew ? colored : original
                #expect(bytes(result, x: x, y: 9) == bytes(expected, x: x, y: 9), "\(name) \(x)")
            }
            #expect(try colorize("--mask", path, "--instances", "3,1,3") == result)
        }
        let wide = goldenPath("instances16.png")
        let result = try colorize("--mask", wide, "--instances", "300")
        #expect(bytes(result, x: 50, y: 9) == bytes(colored, x: 50, y: 9))
        #expect(bytes(result, x: 40, y: 9) == bytes(original, x: 40, y: 9))
        try bench.expect(
            65, "colorize", "warm.h5", photo, "-o", "x", "--mask", wide, "--instances", "1,44",
            says: ["instances16.png: has no instance 44; it has 1, 2, 3, 300"])
        try bench.expect(
            65, "colorize", "warm.h5", photo, "-o", "x", "--mask", photo, "--instances", "1",
            says: ["a.png: its pixels are colors, not indices"])
        let black = goldenPath("instances-none.png")
        try bench.expect(
            65, "colorize", "warm.h5", photo, "-o", "x", "--mask", black, "--instances", "1",
            says: ["all of its pixels are background"])
        #expect(!bench.files.contains("x"))
    }

    @Test func blendMixesWithThePhotosOwnColors() throws {
        #expect(try colorize("--blend", "0") == original)
        #expect(try colorize("--blend", "1") == colored)
        let mask = try makeMask("m.png") { _, _ in 102 }
        #expect(try colorize("--blend", "0.4") == colorize("--mask", mask))
        let half = try makeMask("n.png") { x, _ in x < 30 ? 0 : 255 }
        let both = try colorize("--blend", "0.4", "--mask", half)
        let plain = try colorize("--blend", "0.4")
        #expect(bytes(both, x: 45, y: 20) == bytes(plain, x: 45, y: 20))
        #expect(bytes(both, x: 5, y: 20) == bytes(original, x: 5, y: 20))
    }

    @Test func eachPhotoHasItsMask() throws {
        for folder in ["in/b", "masks/b"] { try bench.makeDirectory(folder) }
        for name in ["in/a.png", "in/b/a.jpg", "in/c.png", "in/d.png"] {
            _ = try bench.makePhoto(name)
        }
        _ = try makeMask("masks/a.jpg") { x, _ in x < 30 ? 0 : 255 }
        _ = try makeMask("masks/b/a.png") { _, _ in 0 }
        _ = try makeMask("masks/d.png", width: 61) { _, _ in 0 }
        let result = try bench.expect(
            65, "colorize", "warm.h5", "in", "-o", "out", "--recursive", "--mask", "masks",
            "--size",
            "64",
            says: [
                "in/c.png: has no mask; masks has no image named c",
                "masks/d.png: has 61 × 40 pixels and in/d.png has 60 × 40", "2 of 4 photos",
            ])
        #expect(result.output == "out/a.png\nout/b/a.jpg\n")
        let first = try Image(contentsOf: bench.path("out/a.png"))
        #expect(bytes(first, x: 5, y: 20) == bytes(original, x: 5, y: 20))
        #expect(bytes(first, x: 55, y: 20) == bytes(colored, x: 55, y: 20))
        // The black mask of the other one.
        let second = try Image(contentsOf: bench.path("out/b/a.jpg"))
        let own = try Image(contentsOf: bench.path("in/b/a.jpg"))
        let difference = zip(second.pixels, own.pixels).map { abs(Int($0) - Int($1)) }.reduce(0, +)
        #expect(difference < 3 * second.pixels.count)
        _ = try makeMask("masks/a.png") { _, _ in 0 }
        try bench.expect(
            65, "colorize", "warm.h5", "in/a.png", "-o", "x", "--mask", "masks",
            says: ["several masks", "masks/a.jpg and masks/a.png"])
        try bench.makeDirectory("none")
        try bench.expect(
            65, "colorize", "warm.h5", photo, "-o", "x", "--mask", "none",
            says: ["none: contains no masks"])
    }

    /// Masks that are in the folder of photos are not colored.
    @Test func masksAreNotColored() throws {
        try bench.makeDirectory("in/masks")
        _ = try bench.makePhoto("in/a.png")
        _ = try makeMask("in/masks/a.png") { _, _ in 255 }
        _ = try makeMask("in/all.png") { _, _ in 255 }
        let folder = try bench.expect(
            65, "colorize", "warm.h5", "in", "-o", "out", "--recursive", "--mask", "in/masks",
            "--size", "64", says: ["in/all.png: has no mask"])
        #expect(folder.output == "out/a.png\n")
        let single = try bench.expect(
            0, "colorize", "warm.h5", "in", "-o", "one", "--mask", "in/all.png", "--size", "64")
        #expect(single.output == "one/a.png\n")
    }

    /// What is chosen may be missing on some of the photos, but not on all.
    @Test func instancesMayBeMissingInAFolder() throws {
        for folder in ["in", "masks"] { try bench.makeDirectory(folder) }
        for name in ["a", "b"] { _ = try bench.makePhoto("in/\(name).png") }
        for (name, golden) in [("a", "instances8.png"), ("b", "instances-none.png")] {
            _ = try bench.write(
                Data(contentsOf: URL(filePath: goldenPath(golden))), to: "masks/\(name).png")
        }
        let command = ["colorize", "warm.h5", "in", "--mask", "masks", "--size", "64"]
        try bench.expect(0, command + ["-o", "out", "--instances", "1"])
        let result = try Image(contentsOf: bench.path("out/b.png"))
        #expect(result == original)
        try bench.expect(
            65, command + ["-o", "x", "--instances", "1,9"],
            says: ["masks: none of the masks used has instance 9"])
    }

    @Test func wrongMasksAreErrors() throws {
        let mask = try makeMask("m.png", width: 40, height: 60) { _, _ in 255 }
        try bench.expect(
            65, "colorize", "warm.h5", photo, "-o", "x", "--mask", mask,
            says: ["m.png: has 40 × 60 pixels and a.png has 60 × 40"])
        let text = try bench.write(Data("no mask".utf8), to: "text.png")
        try bench.expect(
            65, "colorize", "warm.h5", photo, "-o", "x", "--mask", text, says: ["text.png: not a"])
        try bench.expect(
            65, "colorize", "warm.h5", photo, "-o", "x", "--mask", "absent.png",
            says: ["absent.png"])
        try bench.makeDirectory("masks")
        _ = try makeMask("masks/a.png") { _, _ in 255 }
        let before = try Data(contentsOf: URL(filePath: bench.path("masks/a.png")))
        try bench.expect(
            64, "colorize", "warm.h5", photo, "-o", "masks", "--mask", "masks",
            says: ["masks/a.png: is a mask and would be overwritten"])
        #expect(try Data(contentsOf: URL(filePath: bench.path("masks/a.png"))) == before)
        #expect(bench.files.filter { $0.hasPrefix("x/") }.isEmpty)
    }

    @Test func wrongOptionsAreErrors() throws {
        let mask = try makeMask("m.png") { _, _ in 255 }
        for (options, words) in [
            (["--blend", "1.5"], "must be from 0 to 1"), (["--blend", "nan"], "must be from 0"),
            (["--feather", "2"], "--feather has no effect without --mask"),
            (["--instances", "2"], "--instances has no effect without --mask"),
            (["--mask", mask, "--feather", "1e9"], "must be from 0 to 1000"),
            (["--mask", mask, "--feather", "-3"], "--feather -3.0: must be from 0 to 1000"),
            (["--mask", mask, "--instances", "0"], "must be indices from 1"),
            (["--mask", mask, "--instances", "1,,2"], "must be indices from 1"),
            (["--mask", mask, "--instances", "70000"], "must be indices from 1"),
            (["--mask", mask, "--instances", "x"], "must be indices from 1"),
            (["--quad", "1,2", "3,4"], "not four corners"),
            (["--quad", "0,0 9,9 9,0 0,9"], "not convex"),
            (["--quad", "0,0", "0,9", "9,9", "9,0"], "counterclockwise"),
            (["--quad", "0,0", "4,0", "9,0", "0,9"], "on one line"),
        ] {
            let result = try bench.run(["colorize", "warm.h5", photo, "-o", "x"] + options)
            #expect(result.code == 64 && result.messages.contains(words), "\(result.messages)")
        }
        try bench.expect(
            65, "colorize", "warm.h5", photo, "-o", "x", "--quad", "0,0", "61,0", "60,40", "0,40",
            says: ["a.png: the corner 61,0 is outside its 60 × 40 pixels"])
        #expect(bench.files.filter { $0.hasPrefix("x/") }.isEmpty)
    }

    @Test func aPictureInPerspectiveIsColored() throws {
        let corners = ["10,6", "50,9", "47,33", "12,30"]
        let result = try colorize("--quad", corners[0], corners[1], corners[2], corners[3])
        #expect(try colorize("--quad", corners.joined(separator: " ")) == result)
        #expect(bytes(result, x: 5, y: 20) == bytes(original, x: 5, y: 20))
        #expect(bytes(result, x: 55, y: 20) == bytes(original, x: 55, y: 20))
        // The model gives one color wherever it looks.
        let (new, found) = (lab(fromRGB: colored.pixels), lab(fromRGB: result.pixels))
        let own = lab(fromRGB: original.pixels)
        var checked = 0
        for y in 14..<28 {
            for x in 16..<44 {
                let pixel = 60 * y + x
                guard (40...65).contains(new.l[pixel]) else { continue }
                checked += 1
                #expect(abs(found.a[pixel] - new.a[pixel]) < 3)
                #expect(abs(found.b[pixel] - new.b[pixel]) < 3)
                #expect(abs(found.l[pixel] - own.l[pixel]) < 1)
            }
        }
        #expect(checked > 50)
        // With a mask, only what both show.
        let mask = try makeMask("m.png") { x, _ in x < 30 ? 0 : 255 }
        let both = try colorize("--mask", mask, "--quad", corners.joined(separator: " "))
        #expect(bytes(both, x: 20, y: 20) == bytes(original, x: 20, y: 20))
        #expect(bytes(both, x: 40, y: 20) == bytes(result, x: 40, y: 20))
    }

    @Test func stripsShowTheRegion() throws {
        let mask = try makeMask("m.png") { x, _ in x < 30 ? 0 : 255 }
        let result = try colorize("--mask", mask, "--compare", "--before", "warm.h5")
        let strip = try Image(contentsOf: bench.path("out/a-compare.png"))
        #expect(strip == Image.sideBySide([original.gray, result, result, original]))
    }

    @Test func theLibraryDoesTheSame() throws {
        let path = bench.path(try makeMask("m.png") { x, _ in x < 30 ? 0 : 255 })
        let colorizer = try Colorizer(contentsOf: bench.path("warm.h5"), size: 64)
        let photo = original
        let mask = try ColorMask(contentsOf: path).feathered(4)
        let colored = try colorizer.colorize(photo, in: ColoredRegion(mask: mask))
        #expect(colored != original)
        #expect(try colorize("--mask", "m.png", "--feather", "4") == colored)
    }

    @Test func regionsInTheLibrary() async throws {
        let colorizer = try Colorizer(
            contentsOf: bench.path("warm.h5"), size: 64, execution: Execution(threads: 1))
        let mask = ColorMask(
            width: 60, height: 40, values: (0..<2400).map { Float($0 % 60) / 59 }
        )
        .feathered(1)
        let region = ColoredRegion(mask: mask, blend: 0.5)
        let expected = try { try colorizer.colorize(original, in: region) }()
        #expect(try await colorizer.colorize(original, in: region) == expected)
        #expect(try await colorizer.colorize([original, original], in: region)[1] == expected)
        #expect(expected != original)
        let small = original.cropped(x: 0, y: 0, width: 30, height: 30)
        let error = await #expect(throws: PhotoError.self) {
            try await colorizer.colorize([small], in: region)
        }
        #expect(
            try #require(error).description.contains("60 × 40 pixels and the photo has 30 × 30"))
    }
}

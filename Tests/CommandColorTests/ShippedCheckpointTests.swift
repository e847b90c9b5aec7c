import Foundation
import Retint
import RetintCommandSupport
import RetintImages
import RetintTestSupport
import Testing

@testable import RetintCheckpoints

/// The first minute: a trained colorizer by its name, a photo, a colored file.
@Suite(.sampled()) struct ShippedCheckpointTests {
    private let bench: CommandBench

    init() throws {
        bench = try CommandBench()
        try bench.makeDirectory("shipped")
        _ = try bench.makeCheckpoint("shipped/lite-class-unet.h5")
        _ = try bench.write(
            Data("# lite-class-unet\n\nA `U-Net`\nof the test.\n\nMore.".utf8),
            to: "shipped/lite-class-unet.md")
    }

    private func run(_ arguments: String...) throws -> ProcessResult {
        try bench.run(arguments, environment: [ShippedCheckpoint.variable: bench.path("shipped")])
    }

    @Test func oneFileIsWritten() throws {
        let photo = try bench.makePhoto("a.png")
        for (name, model) in [("deep/colored.jpg", ["lite-class-unet"]), ("colored.png", [])] {
            let result = try bench.run(
                ["colorize"] + model + [photo, "-o", name],
                environment: [ShippedCheckpoint.variable: bench.path("shipped")])
            #expect(result.code == 0 && result.output == "\(name)\n", "\(result)")
            let image = try Image(contentsOf: bench.path(name))
            #expect((image.width, image.height) == (60, 40))
        }
    }

    @Test func aFolderOfPhotosTakesTheStandardModel() throws {
        try bench.makeDirectory("photos")
        _ = try bench.makePhoto("photos/a.png")
        _ = try bench.makePhoto("photos/b.png")
        for name in ["c.CR2", "d.cr2", "e.dng"] {
            _ = try bench.write(Data(), to: "photos/\(name)")
        }
        let result = try run("colorize", "photos", "-o", "out")
        #expect(result.code == 0 && result.output == "out/a.png\nout/b.png\n", "\(result)")
        #expect(result.messages.contains("2 .cr2, 1 .dng left out"), "\(result.messages)")
        let several = try run("colorize", "photos", "-o", "one.png")
        #expect(several.code == 64 && several.messages.contains("name a folder"))
        let other = try run("colorize", "photos/a.png", "-o", "one.png", "--format", "jpeg")
        #expect(other.code == 64 && other.messages.contains("does not match the requested format"))
    }

    /// The values that verify makes by itself get colors, so that other colors are seen.
    @Test func anotherColorizerFails() throws {
        try bench.expect(
            0, "export", "lite-class-unet-small", "-o", "half.mlpackage", "--precision", "float16")
        try bench.expect(0, "verify", "half.mlpackage", "--against", "lite-class-unet-small")
        for other in ["lite-class-unet", "lite-class-unet-old"] {
            let result = try bench.run(["verify", "half.mlpackage", "--against", other])
            #expect(result.code == 2, "\(result.output)")
        }
    }

    @Test func absentColorizersAreNamed() throws {
        try bench.makeDirectory("empty")
        let photo = try bench.makePhoto("a.png")
        for arguments in [
            ["colorize", photo, "-o", "x.png"], ["video", "a.y4m", "-o", "x.y4m"],
            ["evaluate", "lite-class-unet", "--data", photo], ["models"],
        ] {
            let result = try bench.run(
                arguments, environment: [ShippedCheckpoint.variable: bench.path("empty")])
            #expect(result.code != 0, "\(arguments): \(result.messages)")
            #expect(result.messages.contains("install the package retint-checkpoints"))
        }
    }

    @Test func namesStandForFilesWhereverAModelIsRead() throws {
        #expect(try run("inspect", "lite-class-unet").code == 0)
        #expect(try run("import", "lite-class-unet", "-o", "copy.h5").code == 0)
        let converted = try run(
            "convert", "lite-class-unet", "-o", "m.mlpackage", "--precision", "fp32", "--target",
            "macOS13")
        #expect(converted.code == 0 && converted.output.contains("iOS16"), "\(converted)")
        let verified = try run("verify", "m.mlpackage", "--against", "lite-class-unet")
        #expect(verified.code == 0, "\(verified)")
        // A file of that name comes first.
        _ = try bench.write(Data("text".utf8), to: "lite-class-unet")
        #expect(try run("inspect", "lite-class-unet").code == 65)
    }

    @Test func modelsAreListed() throws {
        let text = try run("models").output
        #expect(text.hasPrefix("lite-class-unet  ("), "\(text)")
        #expect(text.hasSuffix("lite-class-unet.h5)\n    A U-Net of the test.\n"), "\(text)")
        let list = try bench.json(try run("models", "--json"))["models"] as? [[String: Any]]
        #expect(list?.map { $0["name"] as? String } == ["lite-class-unet"])
        let none = try bench.run(
            ["models"], environment: [ShippedCheckpoint.variable: bench.path("nowhere")])
        #expect(none.code == 1 && none.messages.contains("retint-checkpoints"), "\(none)")
    }

    @Test func misspelledCommandsHaveNeighbors() throws {
        for arguments in [["colorise", "a.jpg"], ["help", "colorise"]] {
            let result = try bench.run(arguments)
            #expect(result.code == 64)
            #expect(
                result.messages.contains("there is no command colorise; did you mean colorize?"))
        }
    }

    /// Beside an installed program, beside that of a wheel, and in a checkout.
    @Test(arguments: [
        ("usr/bin/retint", "usr/share/retint/checkpoints"),
        ("site/retint/bin/retint", "site/retint_checkpoints"),
        ("usr/lib/retint/libretint.so", "usr/share/retint/checkpoints"),
        ("site/retint/lib/retint/libretint.so", "site/retint_checkpoints"),
        ("checkout/.build/x86_64/release/retint", "checkout/Checkpoints"),
    ])
    func foldersOfPrograms(program: String, folder: String) throws {
        try bench.makeDirectory(folder)
        for name in ["small-old.h5", "small.h5", "README.md"] {
            _ = try bench.write(Data(), to: "\(folder)/\(name)")
        }
        let found = ShippedCheckpoint.all([:], program: bench.path(program))
        #expect(found.map(\.name) == ["small", "small-old"])
        #expect(found.first?.path == bench.path("\(folder)/small.h5"))
    }
}

import Foundation
import RetintCommandSupport
import RetintImages
import RetintTestSupport
import Testing

/// `retint colorize` on folders.
@Suite(.sampled()) struct ColorizeFolderTests {
    private let bench: CommandBench
    private let model: String

    init() throws {
        bench = try CommandBench()
        model = try bench.makeCheckpoint()
    }

    @Test func aModelAfterThePhotosIsSaid() throws {
        let photo = try bench.makePhoto("a.png")
        try bench.expect(
            64, "colorize", photo, model, "-o", "x.png",
            says: ["comes first: retint colorize \(model) \(photo)"])
        try bench.expect(
            64, "video", "film.mp4", model, "-o", "x.mp4",
            says: ["comes first: retint video \(model) film.mp4"])
        try bench.expect(0, "colorize", model, photo, "-o", "x.png", "--size", "32")
    }

    /// A film is not a damaged photo, and a name may begin as an option does.
    @Test func filmsAndDashesAreNamed() throws {
        for (name, start) in [
            ("a.mp4", Array("\0\0\0\u{20}ftypisom".utf8)), ("b.mkv", [0x1a, 0x45, 0xdf, 0xa3]),
            ("c.y4m", Array("YUV4MPEG2 W2".utf8)), ("d.avi", Array("RIFF\0\0\0\0AVI LIST".utf8)),
        ] {
            _ = try bench.write(Data(start), to: name)
            try bench.expect(
                65, "colorize", model, name, "-o", "x.png",
                says: ["it is a video", "color it with `retint video`"])
        }
        _ = try bench.makePhoto("-hat.png")
        try bench.expect(0, "colorize", model, "-hat.png", "-o", "hat.png", "--size", "32")
        #expect(bench.files.contains("hat.png"))
    }

    @Test func failuresAreCounted() throws {
        try makeFolder()
        _ = try bench.write(Data("no picture".utf8), to: "in/b.png")
        let result = try bench.expect(65, "colorize", model, "in", "-o", "out", "--size", "64")
        #expect(result.messages.contains(", 1 failed"), "\(result.messages)")
        try bench.makeDirectory("folder")
        try bench.expect(65, "inspect", "folder", says: ["not a Core ML package"])
    }

    private func makeFolder() throws {
        for folder in ["in", "in/b", "in/b/deep"] { try bench.makeDirectory(folder) }
        for name in ["in/z.png", "in/a.jpg", "in/b/a.jpg", "in/b/deep/c.png", "in/b/.hidden.png"] {
            _ = try bench.makePhoto(name)
        }
        _ = try bench.write(Data("notes".utf8), to: "in/notes.txt")
    }

    private func outputs(_ folder: String) -> Set<String> {
        bench.files.filter { $0.hasPrefix("\(folder)/") && $0.contains(".") }
    }

    private func data(_ name: String) throws -> Data {
        try Data(contentsOf: URL(filePath: bench.path(name)))
    }

    @Test func takesThePhotosDirectlyInAFolder() throws {
        try makeFolder()
        let result = try bench.expect(0, "colorize", model, "in/", "-o", "out", "--size", "64")
        #expect(result.output == "out/a.jpg\nout/z.png\n")
        #expect(outputs("out") == ["out/a.jpg", "out/z.png"])
        let hint = try bench.expect(65, "colorize", model, "in/b/deep/..", "in/none", "-o", "x")
        #expect(hint.messages.contains("in/none"))
        try bench.makeDirectory("empty/sub")
        try bench.expect(
            65, "colorize", model, "empty", "-o", "x",
            says: ["empty: contains no photos", "--recursive"])
        try bench.makeDirectory("run")
        try FileManager.default.copyItem(
            atPath: bench.path(model), toPath: bench.path("run/best.h5"))
        try bench.expect(
            64, "colorize", "run", "in/a.jpg", "-o", "x",
            says: ["run is the folder of a training run", "retint colorize run/best.h5 in/a.jpg"])
    }

    /// Names that Unicode calls equivalent are those of two files.
    @Test func namesAreBytes() throws {
        try bench.makeDirectory("in")
        for name in ["caf\u{E9}.jpg", "cafe\u{301}.jpg"] { _ = try bench.makePhoto("in/\(name)") }
        let result = try bench.expect(0, "colorize", model, "in", "-o", "out", "--size", "64")
        #expect(result.output.split(separator: "\n").count == 2)
        let names = try FileManager.default.contentsOfDirectory(atPath: bench.path("out"))
        #expect(names.count == 2)
    }

    /// No path of retint names such a photo; the others are colored.
    @Test func aNameThatIsNotUTF8IsLeftOut() throws {
        try makeFolder()
        for name in ["in/a.jpg", "in/b/a.jpg"] { try bench.copyToOtherBytes(name) }
        let result = try bench.expect(
            0, "colorize", model, "in", "-o", "out", "--size", "64",
            says: [#"left out in/caf\xE9.jpg: "#, "is not UTF-8; rename it"])
        #expect(result.output == "out/a.jpg\nout/z.png\n")
        try bench.expect(
            0, "evaluate", model, "--data", "in", "--size", "64",
            says: [#"left out in/b/caf\xE9.jpg: "#, #"left out in/caf\xE9.jpg: "#])
        // Nothing else is there.
        try bench.makeDirectory("only")
        _ = try bench.makePhoto("only/a.jpg")
        try bench.copyToOtherBytes("only/a.jpg")
        try FileManager.default.removeItem(atPath: bench.path("only/a.jpg"))
        try bench.expect(
            65, "colorize", model, "only", "-o", "x", says: ["left out", "contains no photos"])
    }

    @Test func keepsSubfolders() throws {
        try makeFolder()
        let expected = ["out/a.jpg", "out/b/a.jpg", "out/b/deep/c.png", "out/z.png"]
        let result = try bench.expect(
            0, "colorize", model, "in", "-o", "out", "--recursive", "--size", "64", "--compare")
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.filter { !$0.contains("-compare.") } == expected && lines.count == 8)
        #expect(outputs("out").isSuperset(of: expected + ["out/b/deep/c-compare.png"]))
        #expect(outputs("out").count == 8)
    }

    /// The folder that is written to may lie in the one that is read.
    @Test func leavesOutEarlierOutput() throws {
        try makeFolder()
        for _ in 0..<2 {
            let result = try bench.expect(
                0, "colorize", model, "in", "-o", "in/colored", "--recursive", "--size", "64")
            #expect(result.output.split(separator: "\n").count == 4)
        }
        #expect(outputs("in/colored").count == 4)
        try bench.expect(64, "colorize", model, "in", "-o", "in", says: ["input itself"])
    }

    @Test func skipsFinishedPhotos() throws {
        try makeFolder()
        let all = ["colorize", model, "in", "-o", "out", "--recursive", "--size", "64"]
        _ = try bench.run(all)
        let kept = try bench.write(Data("kept".utf8), to: "out/z.png")
        try FileManager.default.removeItem(atPath: bench.path("out/b/a.jpg"))
        let result = try bench.run(all + ["--skip-existing"])
        #expect(result.code == 0)
        #expect(result.output == "out/b/a.jpg\n")
        #expect(result.messages.contains("skipped 3 of 4 photos: already colored"))
        #expect(try data(kept) == Data("kept".utf8))
        // A strip that is missing is made, and with it the photo.
        let strips = try bench.run(all + ["--skip-existing", "--compare"])
        #expect(strips.output.split(separator: "\n").count == 8)
    }

    /// Neither the number of threads nor what else is colored changes a file.
    @Test func filesAreThoseOfSinglePhotos() throws {
        try bench.makeDirectory("in")
        for index in 0..<9 {
            let name = "in/\(index).\(index % 2 == 0 ? "jpg" : "png")"
            _ = try bench.makePhoto(name, width: 40 + 90 * (index % 3), height: 30 + 20 * index)
        }
        let first = try bench.expect(0, "colorize", model, "in", "-o", "one", "--threads", "1")
        let many = try bench.expect(0, "colorize", model, "in", "-o", "many", "--threads", "4")
        #expect(first.output.replacing("one/", with: "many/") == many.output)
        for index in 0..<9 {
            let name = "\(index).\(index % 2 == 0 ? "jpg" : "png")"
            try bench.expect(
                0, "colorize", model, "in/\(name)", "-o", "single", "--threads", "1")
            let single = try data("single/\(name)")
            #expect(try data("one/\(name)") == single && data("many/\(name)") == single)
        }
    }

    @Test func failuresAreListedAtTheEnd() throws {
        try makeFolder()
        _ = try bench.write(Data("no photo".utf8), to: "in/b.jpg")
        let whole = try data("in/z.png")
        _ = try bench.write(whole.prefix(whole.count / 2), to: "in/c.png")
        let result = try bench.expect(
            65, "colorize", model, "in", "-o", "out", "--size", "64",
            says: ["in/b.jpg: not an image", "in/c.png: cannot be decoded", "2 of 4 photos"])
        #expect(result.output == "out/a.jpg\nout/z.png\n")
        #expect(outputs("out") == ["out/a.jpg", "out/z.png"])
    }

    @Test func copiesKeepMetadata() throws {
        var metadata = ImageMetadata()
        metadata.resolution = ImageResolution(x: 300, y: 150, unit: .inch)
        let image = Image(width: 30, height: 20, red: 90, green: 80, blue: 70)
        try image.write(to: bench.path("a.jpg"), metadata: metadata)
        // EXIF data that break off, in the first segment.
        let damaged: [UInt8] = [0xff, 0xe1, 0, 12] + Array("Exif\0\0II*\0".utf8)
        var jpeg = try image.encode(.jpeg(), metadata: metadata)
        jpeg.insert(contentsOf: damaged, at: 2)
        _ = try bench.write(Data(jpeg), to: "b.jpg")
        let result = try bench.expect(0, "colorize", model, "a.jpg", "b.jpg", "-o", "out")
        #expect(result.messages.contains("b.jpg: its EXIF data is damaged and was left out"))
        #expect(!result.messages.contains("a.jpg: its"))
        let copy = try ImageMetadata(contentsOf: bench.path("out/a.jpg"))
        #expect(copy == metadata)
        try bench.expect(0, "colorize", model, "a.jpg", "-o", "out", "--format", "png")
        let png = try ImageMetadata(contentsOf: bench.path("out/a.png"))
        #expect(png.resolution == ImageResolution(x: 11_811, y: 5906, unit: .meter))
    }

    @Test func interruptionFinishesThePhotosInWork() throws {
        try bench.makeDirectory("in")
        _ = try bench.makePhoto("in/000.png", width: 900, height: 700)
        for index in 1..<300 {
            try FileManager.default.copyItem(
                atPath: bench.path("in/000.png"),
                toPath: bench.path("in/\(String(format: "%03d", index)).png"))
        }
        let arguments = ["colorize", model, "in", "-o", "out", "--threads", "2"]
        let process = try RunningProcess(builtProgram("retint"), arguments, in: bench.directory)
        while process.isRunning, outputs("out").count < 5 { Thread.sleep(forTimeInterval: 0.02) }
        process.interrupt()
        let result = try process.wait(limit: 60)
        #expect(result.code == 130)
        let written = outputs("out")
        #expect(written.count >= 5 && written.count < 300)
        #expect(Set(result.output.split(separator: "\n").map(String.init)) == written)
        #expect(result.messages.contains("interrupted; \(written.count) of 300 photos"))
        for path in written { _ = try Image(contentsOf: bench.path(path)) }
    }
}

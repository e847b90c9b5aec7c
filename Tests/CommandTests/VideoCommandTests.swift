import Foundation
import Retint
import TestSupport
import Testing

/// `retint video`, on YUV4MPEG2 as it is and, where FFmpeg is installed, on containers.
@Suite struct VideoCommandTests {
    private let bench: CommandBench
    private let model: String

    init() throws {
        bench = try CommandBench()
        model = try bench.makeCheckpoint()
    }

    /// A film of frames that differ, with noise in Y' and in its old colors.
    private func makeFilm(
        _ name: String, frames: Int = 5, layout: String = "420jpeg", tags: String = ""
    ) throws -> Data {
        let reader = try Y4MHeader("YUV4MPEG2 W34 H22 F25:1 Ip C\(layout)\(tags)")
        let format = reader.format
        let samples = format.width * format.height + 2 * format.chromaWidth * format.chromaHeight
        let bytes = samples * format.bytesPerSample
        var data = Data("\(reader.line)\n".utf8)
        for frame in 0..<frames {
            data += Data("FRAME\n".utf8)
            data += (0..<bytes).map { index in
                let sample = UInt8(truncatingIfNeeded: index &* 31 &+ frame &* 77 &+ index / 34)
                // The upper byte of a sample of 10 bits.
                return format.bitDepth > 8 && index % 2 == 1 ? sample & 3 : sample
            }
        }
        _ = try bench.write(data, to: name)
        return data
    }

    private func frames(_ path: String) throws -> [Frame] {
        let reader = try Y4MReader(contentsOf: path)
        var frames: [Frame] = []
        while let frame = try reader.next() { frames.append(frame) }
        return frames
    }

    @Test(arguments: ["420jpeg", "422", "444", "mono", "420p10", "422p10", "444p10", "mono10"])
    func lightnessStaysBitByBit(_ layout: String) throws {
        _ = try makeFilm("film.y4m", layout: layout, tags: " XCOLORRANGE=FULL")
        try bench.expect(0, "video", model, "film.y4m", "-o", "out.y4m", says: ["5 frames"])
        let (before, after) = (
            try frames(bench.path("film.y4m")), try frames(bench.path("out.y4m"))
        )
        #expect(after.count == 5)
        for (old, new) in zip(before, after) {
            #expect(new.luma.bytes == old.luma.bytes)
            #expect(new.format == old.format.colored)
            #expect(new.cb?.bytes != old.cb?.bytes)
        }
    }

    /// Each frame is colored by itself, so its place and what runs beside it do not matter.
    @Test func threadsGiveTheSameFilm() throws {
        _ = try makeFilm("film.y4m", frames: 9)
        for threads in ["1", "3"] {
            try bench.expect(
                0, "video", model, "film.y4m", "-o", "\(threads).y4m", "--threads", threads)
        }
        let films = try ["1", "3"].map {
            try Data(contentsOf: URL(filePath: bench.path("\($0).y4m")))
        }
        #expect(films[0] == films[1])
        #expect(try frames(bench.path("1.y4m")).count == 9)
    }

    @Test func saysWhatTheFilmDoesNotState() throws {
        _ = try makeFilm("film.y4m", frames: 1)
        try bench.expect(
            0, "video", model, "film.y4m", "-o", "out.y4m",
            says: ["no matrix: taken as bt601", "no range: taken as limited"])
        let told = try bench.expect(
            0, "video", model, "film.y4m", "-o", "told.y4m", "--matrix", "bt709", "--range", "full")
        #expect(!told.messages.contains("taken as"))
        let films = try ["out", "told"].map { try frames(bench.path("\($0).y4m"))[0] }
        #expect(films[0].luma.bytes == films[1].luma.bytes)
        #expect(films[0].cr?.bytes != films[1].cr?.bytes)
    }

    @Test func aTruncatedFilmGivesWhatIsWhole() throws {
        let data = try makeFilm("film.y4m", frames: 4)
        _ = try bench.write(data.dropLast(10), to: "short.y4m")
        try bench.expect(
            1, "video", model, "short.y4m", "-o", "out.y4m", says: ["ends inside frame 4"])
        #expect(try frames(bench.path("out.y4m")).count == 3)
    }

    @Test func badInputIsRefused() throws {
        _ = try makeFilm("film.y4m", frames: 1)
        try bench.expect(65, "video", model, "none.y4m", "-o", "out.y4m", says: ["none.y4m"])
        _ = try bench.write(Data("no film".utf8), to: "text.y4m")
        try bench.expect(
            65, "video", model, "text.y4m", "-o", "out.y4m", says: ["does not begin with YUV4MPEG2"]
        )
        _ = try bench.write(Data("YUV4MPEG2 W8 H8 It\n".utf8), to: "tv.y4m")
        try bench.expect(
            65, "video", model, "tv.y4m", "-o", "out.y4m", says: ["interlaced", "bwdif"])
        try bench.expect(
            64, "video", model, "film.y4m", "-o", "./film.y4m", says: ["film.y4m"])
        try bench.expect(
            64, "video", model, "film.y4m", "-o", "out.y4m", "--start", "1", says: ["--start"])
        try bench.expect(
            64, "video", model, "film.y4m", "-o", "out.y4m", "--encoder", "x", says: ["no encoder"])
        try bench.expect(64, "video", model, "film.y4m", "-o", "o.mkv", "--encoder-option", "crf")
        #expect(!bench.files.contains("out.y4m"))
    }

    @Test func aFullDiskIsAnError() throws {
        _ = try makeFilm("film.y4m")
        try bench.expect(
            1, "video", model, "film.y4m", "-o", "/no/such/folder.y4m",
            says: ["/no/such/folder.y4m"])
    }

    @Test func withoutFFmpegTheErrorSaysHowToGetIt() throws {
        _ = try bench.write(Data("film".utf8), to: "film.mp4")
        let result = try bench.run(
            ["video", model, "film.mp4", "-o", "out.mp4"], environment: ["PATH": "/nowhere"])
        #expect(result.code == 1)
        #expect(result.messages.contains("apt install ffmpeg"))
    }

    // MARK: Containers

    private func ffmpeg(_ arguments: String...) throws {
        let result = try runProcess(
            URL(filePath: "/usr/bin/ffmpeg"), ["-nostdin", "-v", "error", "-y"] + arguments,
            in: bench.directory)
        try #require(result.code == 0, "\(result.messages)")
    }

    /// Pictures of the given layout with a sound, chapters and a title, lossless.
    private func makeContainer(_ name: String, layout: String, seconds: Double = 0.4) throws {
        _ = try bench.write(
            Data(";FFMETADATA1\ntitle=Clouds\n[CHAPTER]\nTIMEBASE=1/10\nSTART=0\nEND=2\n".utf8),
            to: "tags.txt")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=66x46:rate=25:duration=\(seconds)", "-f", "lavfi",
            "-i", "sine=duration=\(seconds)", "-i", "tags.txt", "-map_metadata", "2", "-c:v",
            "ffv1",
            "-pix_fmt", layout, "-colorspace", "bt709", "-color_range", "tv", "-c:a", "pcm_s16le",
            name)
    }

    private func stream(_ name: String, _ layout: String) throws -> [Frame] {
        try ffmpeg(
            "-i", name, "-map", "0:v:0", "-f", "yuv4mpegpipe", "-strict", "-1", "-pix_fmt", layout,
            "\(name).y4m")
        return try frames(bench.path("\(name).y4m"))
    }

    @Test(arguments: ["yuv420p", "yuv422p", "yuv444p", "yuv420p10le", "yuv422p10le", "gray"])
    func lightnessOfContainersStays(_ layout: String) throws {
        try makeContainer("film.mkv", layout: layout)
        let result = try bench.expect(
            0, "video", model, "film.mkv", "-o", "out.mkv", "--encoder", "ffv1",
            says: ["out.mkv: 10 frames"])
        #expect(!result.messages.contains("matrix"))
        let before = try stream("film.mkv", layout)
        let after = try stream("out.mkv", layout == "gray" ? "yuv420p" : layout)
        #expect(after.count == 10)
        #expect(zip(before, after).allSatisfy { $0.luma.bytes == $1.luma.bytes })
        #expect(zip(before, after).allSatisfy { $0.cb?.bytes != $1.cb?.bytes })
    }

    @Test func soundChaptersAndTagsAreCopied() throws {
        try makeContainer("film.mkv", layout: "yuv420p")
        try bench.expect(
            0, "video", model, "film.mkv", "-o", "out.mkv", "--encoder", "ffv1",
            "--encoder-option", "level=3")
        let probe = try probe("out.mkv")
        for fact in [
            "codec_name=ffv1", "codec_name=pcm_s16le", "color_space=bt709", "color_range=tv",
            "TAG:title=Clouds", "[CHAPTER]", "avg_frame_rate=25/1",
        ] {
            #expect(probe.contains(fact), "\(fact) is missing: \(probe)")
        }
    }

    private func probe(_ name: String) throws -> String {
        try runProcess(
            URL(filePath: "/usr/bin/ffprobe"),
            ["-v", "error", "-show_streams", "-show_chapters", "-show_format", name],
            in: bench.directory
        ).output
    }

    /// Players must read the colors with the matrix that they were written with.
    @Test func anOverriddenMatrixIsTagged() throws {
        try makeContainer("film.mkv", layout: "yuv420p")
        try bench.expect(
            0, "video", model, "film.mkv", "-o", "out.mkv", "--encoder", "ffv1", "--matrix",
            "bt601")
        #expect(try probe("out.mkv").contains("color_space=smpte170m"))
    }

    @Test func aPartOfAFilmIsColored() throws {
        try makeContainer("film.mkv", layout: "yuv420p", seconds: 2)
        try bench.expect(
            0, "video", model, "film.mkv", "-o", "out.mkv", "--start", "0.4", "--duration", "1",
            "--encoder", "ffv1", says: ["25 frames"])
        let whole = try stream("film.mkv", "yuv420p"), part = try stream("out.mkv", "yuv420p")
        #expect(part.count == 25)
        #expect(part.first?.luma.bytes == whole[10].luma.bytes)
    }

    @Test func aDamagedContainerGivesWhatCanBeRead() throws {
        try makeContainer("film.mkv", layout: "yuv420p", seconds: 2)
        let data = try Data(contentsOf: URL(filePath: bench.path("film.mkv")))
        _ = try bench.write(data.prefix(data.count / 2), to: "short.mkv")
        try bench.expect(
            1, "video", model, "short.mkv", "-o", "out.mkv", "--encoder", "ffv1",
            says: ["short.mkv", "what could be read of it was used"])
        #expect(try stream("out.mkv", "yuv420p").count > 10)
    }

    @Test func filesThatAreNoFilmsAreRefused() throws {
        _ = try bench.write(Data("no film".utf8), to: "text.mp4")
        try bench.expect(65, "video", model, "text.mp4", "-o", "out.mp4", says: ["text.mp4"])
        try bench.expect(65, "video", model, "none.mp4", "-o", "out.mp4", says: ["none.mp4"])
        try ffmpeg("-f", "lavfi", "-i", "sine=duration=1", "sound.wav")
        try bench.expect(
            65, "video", model, "sound.wav", "-o", "out.mp4", says: ["it has no pictures"])
        try makeContainer("film.mkv", layout: "yuv420p")
        try bench.expect(
            1, "video", model, "film.mkv", "-o", "out.mkv", "--encoder", "nonesuch",
            says: ["out.mkv", "nonesuch"])
    }

    // MARK: Parts

    /// An interrupted film goes on after its finished parts, and is as if it had never stopped.
    @Test func aFilmGoesOnAfterAnInterruption() throws {
        try makeContainer("film.mkv", layout: "yuv420p", seconds: 36)
        let command = [
            "video", model, "film.mkv", "-o", "out.mkv", "--resume", "--encoder", "ffv1",
            "--size", "32",
        ]
        let process = try RunningProcess(builtProgram("retint"), command, in: bench.directory)
        let first = bench.path("out.mkv.parts/00000.mkv")
        while process.isRunning, !FileManager.default.fileExists(atPath: first) {
            Thread.sleep(forTimeInterval: 0.02)
        }
        process.interrupt()
        let result = try process.wait(limit: 60)
        #expect(result.code == 130)
        #expect(result.messages.contains("the same command goes on"))
        let early = try stream("out.mkv", "yuv420p").count
        #expect(early >= 250 && early < 900)
        // Parts of another film are not used.
        try bench.expect(
            1, "video", model, "film.mkv", "-o", "out.mkv", "--resume", "--encoder", "ffv1",
            says: ["out.mkv.parts", "remove the folder"])
        try bench.expect(0, command, says: ["out.mkv: 900 frames"])
        #expect(!FileManager.default.fileExists(atPath: bench.path("out.mkv.parts")))
        try bench.expect(
            0, "video", model, "film.mkv", "-o", "whole.mkv", "--encoder", "ffv1", "--size", "32")
        #expect(try stream("out.mkv", "yuv420p") == stream("whole.mkv", "yuv420p"))
        let facts = try probe("out.mkv")
        for fact in ["codec_name=pcm_s16le", "TAG:title=Clouds", "[CHAPTER]"] {
            #expect(facts.contains(fact), "\(fact) is missing: \(facts)")
        }
    }

    @Test func partsNeedAContainer() throws {
        _ = try makeFilm("film.y4m")
        for arguments in [["film.y4m", "-o", "out.y4m"], ["-", "-o", "out.mkv"]] {
            try bench.expect(
                64, ["video", model] + arguments + ["--resume"], says: ["--resume needs"])
        }
    }

    /// A live film has no more frames than were read, and says how many were left out.
    @Test func aLiveFilmCountsWhatItLeavesOut() throws {
        _ = try makeFilm("film.y4m", frames: 40)
        let result = try bench.expect(
            0, "video", model, "film.y4m", "-o", "out.y4m", "--live", "--size", "64")
        let count = try frames(bench.path("out.y4m")).count
        #expect(count >= 1 && count <= 40)
        #expect(result.messages.contains("\(count) frames, \(40 - count) left out"))
        // The last frame is never left out.
        #expect(
            try frames(bench.path("out.y4m")).last?.luma
                .bytes == frames(bench.path("film.y4m")).last?.luma.bytes)
    }

    /// Ctrl-C leaves a film that can be played.
    @Test func interruptionEndsTheFilm() throws {
        try makeContainer("film.mkv", layout: "yuv420p", seconds: 400)
        let process = try RunningProcess(
            builtProgram("retint"), ["video", model, "film.mkv", "-o", "out.mkv"],
            in: bench.directory)
        while process.isRunning, try bench.size("out.mkv") < 1 << 16 {
            Thread.sleep(forTimeInterval: 0.05)
        }
        process.interrupt()
        let result = try process.wait(limit: 60)
        #expect(result.code == 130)
        #expect(result.messages.contains("interrupted; out.mkv has the"))
        let count = try stream("out.mkv", "yuv420p").count
        #expect(count > 10 && count < 9000)
    }
}

extension CommandBench {
    /// The bytes of a file; 0 if it does not exist.
    fileprivate func size(_ name: String) throws -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path(name))
        return attributes?[.size] as? Int ?? 0
    }
}

import Foundation
import Retint
import RetintCommandSupport
import RetintTestSupport
import Testing

/// `retint video` on containers, with FFmpeg.
@Suite(.sampled()) struct VideoContainerTests {
    private let bench: CommandBench
    private let model: String

    init() throws {
        bench = try CommandBench()
        model = try bench.makeCheckpoint()
    }

    @Test func withoutFFmpegTheErrorSaysHowToGetIt() throws {
        _ = try bench.write(Data("video".utf8), to: "video.mp4")
        let result = try bench.run(
            ["video", model, "video.mp4", "-o", "out.mp4"], environment: ["PATH": "/nowhere"])
        #expect(result.code == 1)
        #expect(result.messages.contains("apt install ffmpeg"))
    }

    @Test(arguments: ["yuv420p", "yuv422p", "yuv444p", "yuv420p10le", "yuv422p10le", "gray"])
    func lightnessOfContainersStays(_ layout: String) throws {
        try bench.makeContainer("video.mkv", layout: layout)
        let result = try bench.expect(
            0, "video", model, "video.mkv", "-o", "out.mkv", "--encoder", "ffv1",
            says: ["out.mkv: 10 frames"])
        #expect(!result.messages.contains("matrix"))
        let before = try bench.stream("video.mkv", layout)
        let after = try bench.stream("out.mkv", layout == "gray" ? "yuv420p" : layout)
        #expect(after.count == 10)
        #expect(zip(before, after).allSatisfy { $0.luma.bytes == $1.luma.bytes })
        #expect(zip(before, after).allSatisfy { $0.cb?.bytes != $1.cb?.bytes })
    }

    @Test func soundChaptersAndTagsAreCopied() throws {
        try bench.makeContainer("video.mkv", layout: "yuv420p")
        try bench.expect(
            0, "video", model, "video.mkv", "-o", "out.mkv", "--encoder", "ffv1",
            "--encoder-option", "level=3")
        let probe = try bench.probe("out.mkv")
        for fact in [
            "codec_name=ffv1", "codec_name=pcm_s16le", "color_space=bt709", "color_range=tv",
            "TAG:title=Clouds", "[CHAPTER]", "avg_frame_rate=25/1",
        ] {
            #expect(probe.contains(fact), "\(fact) is missing: \(probe)")
        }
    }

    /// Players must read the colors with the matrix that they were written with.
    @Test func anOverriddenMatrixIsTagged() throws {
        try bench.makeContainer("video.mkv", layout: "yuv420p")
        try bench.expect(
            0, "video", model, "video.mkv", "-o", "out.mkv", "--encoder", "ffv1", "--matrix",
            "bt601")
        #expect(try bench.probe("out.mkv").contains("color_space=smpte170m"))
    }

    @Test func aPartOfAVideoIsColored() throws {
        try bench.makeContainer("video.mkv", layout: "yuv420p", seconds: 2)
        try bench.expect(
            0, "video", model, "video.mkv", "-o", "out.mkv", "--start", "0.4", "--duration", "1",
            "--encoder", "ffv1", says: ["25 frames"])
        let whole = try bench.stream("video.mkv", "yuv420p"),
            part = try bench.stream("out.mkv", "yuv420p")
        #expect(part.count == 25)
        #expect(part.first?.luma.bytes == whole[10].luma.bytes)
    }

    @Test func whatFFmpegRefusesIsExplained() throws {
        try bench.makeContainer("video.mkv", layout: "yuv420p")
        for (code, arguments, words) in [
            (65, ["-o", "out.mkv", "--start", "5"], "lasts 0.4 s; it has no frame at 5.0 s"),
            (65, ["-o", "out.y4m", "--start", "0.4"], "it has no frame at 0.4 s"),
            (64, ["-o", "out.xyz"], "of this extension; use .mp4"),
            (64, ["-o", "out.jpg"], "name of a picture; use .mp4"),
            (64, ["-o", "out.mkv", "--start", "0:99"], "seconds, mm:ss or hh:mm:ss"),
            (65, ["-o", "out.mkv", "--start", "1:02:05.5"], "no frame at 3725.5 s"),
            (64, ["-o", "out.mkv", "--encoder", "none"], "`ffmpeg -encoders` lists"),
        ] as [(Int32, [String], String)] {
            let result = try bench.run(["video", model, "video.mkv"] + arguments)
            #expect(result.code == code && result.messages.contains(words), "\(result.messages)")
            #expect(!bench.files.contains { $0.hasPrefix("out.") })
        }
    }

    @Test func oddSidesAreExplained() throws {
        try bench.ffmpeg(
            "-f", "lavfi", "-i", "testsrc=size=67x45:rate=10:duration=0.2", "-c:v", "ffv1",
            "-pix_fmt", "gray", "odd.mkv")
        try bench.expect(
            1, "video", model, "odd.mkv", "-o", "out.mp4", "--encoder", "libx264",
            says: ["needs even sides", "pad=ceil(iw/2)*2:ceil(ih/2)*2"])
        try bench.expect(0, "video", model, "odd.mkv", "-o", "out.mkv", "--encoder", "ffv1")
    }

    /// ffmpeg empties a file before it knows whether it can write it.
    @Test func anExistingVideoIsReplacedOnlyByAnother() throws {
        try bench.makeContainer("video.mkv", layout: "yuv420p")
        let old = Data("old".utf8)
        _ = try bench.write(old, to: "out.mkv")
        let refused = try bench.expect(
            64, "video", model, "video.mkv", "-o", "out.mkv", "--encoder", "none")
        #expect(!refused.messages.contains("partial"), "\(refused.messages)")
        #expect(try Data(contentsOf: URL(filePath: bench.path("out.mkv"))) == old)
        try bench.expect(0, "video", model, "video.mkv", "-o", "out.mkv", "--encoder", "ffv1")
        #expect(try bench.stream("out.mkv", "yuv420p").count == 10)
        #expect(!bench.files.contains { $0.contains("partial") })
    }

    /// WebM has Opus and Vorbis alone, MP4 no raw sound, AVI a constant rate, and GIF and YUV4MPEG2
    /// no sound.
    @Test(arguments: [
        ("webm", "codec_name=opus", false), ("mp4", "codec_name=aac", false),
        ("mov", "codec_name=pcm_s16le", false), ("ts", "codec_name=aac", false),
        ("avi", "avg_frame_rate=25/1", false),
        ("gif", "codec_name=gif", true), ("y4m", "codec_name=rawvideo", true),
    ])
    func otherContainersGetWhatTheySupport(
        _ suffix: String, _ property: String, _ isSilent: Bool
    ) throws {
        try bench.makeContainer("video.mkv", layout: "yuv420p")
        let result = try bench.expect(0, "video", model, "video.mkv", "-o", "out.\(suffix)")
        #expect(try bench.probe("out.\(suffix)").contains("\(property)\n"))
        #expect(result.messages.contains("audio (pcm_s16le)") == isSilent, "\(result.messages)")
    }

    /// The reader stops before the end, which makes ffmpeg fail: that is not damage.
    @Test func theFirstFramesOfAContainerCanBeRead() async throws {
        try bench.makeContainer("video.mkv", layout: "yuv420p", seconds: 40)
        let first = try await withVideo(bench.path("video.mkv")) { try $0.reader.next() }
        let whole = try bench.stream("video.mkv", "yuv420p")
        #expect(whole.count == 1000 && first?.luma.bytes == whole[0].luma.bytes)
    }

    @Test func aDamagedContainerGivesWhatCanBeRead() throws {
        try bench.makeContainer("video.mkv", layout: "yuv420p", seconds: 2)
        let data = try Data(contentsOf: URL(filePath: bench.path("video.mkv")))
        _ = try bench.write(data.prefix(data.count / 2), to: "short.mkv")
        try bench.expect(
            1, "video", model, "short.mkv", "-o", "out.mkv", "--encoder", "ffv1",
            says: ["short.mkv", "the readable frames were used"])
        #expect(try bench.stream("out.mkv", "yuv420p").count > 10)
    }

    @Test func filesThatAreNoVideosAreRefused() throws {
        _ = try bench.write(Data("no video".utf8), to: "text.mp4")
        try bench.expect(65, "video", model, "text.mp4", "-o", "out.mp4", says: ["text.mp4"])
        try bench.expect(65, "video", model, "none.mp4", "-o", "out.mp4", says: ["none.mp4"])
        try bench.ffmpeg("-f", "lavfi", "-i", "sine=duration=1", "sound.wav")
        try bench.expect(
            65, "video", model, "sound.wav", "-o", "out.mp4", says: ["has no pictures"])
        try bench.makeContainer("video.mkv", layout: "yuv420p")
        try bench.expect(
            64, "video", model, "video.mkv", "-o", "out.mkv", "--encoder", "nonesuch",
            says: ["out.mkv", "nonesuch"])
    }

    // MARK: Other streams

    /// The seconds at which the last packets of pictures and of sound begin.
    private func ends(_ name: String) throws -> [String: Double] {
        let text = try runProcess(
            URL(filePath: "/usr/bin/ffprobe"),
            ["-v", "error", "-show_entries", "packet=codec_type,pts_time", "-of", "csv=p=0", name],
            in: bench.directory
        ).output
        var ends: [String: Double] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: ",")
            guard words.count >= 2, let time = Double(words[1]) else { continue }
            ends[String(words[0])] = max(ends[String(words[0])] ?? 0, time)
        }
        return ends
    }

    /// A video with sound, text subtitles and an attached file.
    private func makeRichVideo(_ name: String) throws {
        try bench.makeContainer("plain.mkv", layout: "yuv420p", seconds: 2)
        _ = try bench.write(
            Data("1\n00:00:00,200 --> 00:00:01,000\nHello\n".utf8), to: "words.srt")
        _ = try bench.write(Data("font".utf8), to: "font.ttf")
        try bench.ffmpeg(
            "-i", "plain.mkv", "-i", "words.srt", "-map", "0", "-map", "1", "-c:v", "copy", "-c:a",
            "aac", "-c:s", "srt", "-attach", "font.ttf", "-metadata:s:t", "mimetype=font/ttf", name)
    }

    @Test func whatTheContainerCannotHoldIsLeftOut() throws {
        try makeRichVideo("video.mkv")
        try bench.expect(
            0, "video", model, "video.mkv", "-o", "out.mp4", "--encoder", "mpeg4",
            says: ["attachment", "is dropped, because out.mp4 does not support it"])
        let facts = try bench.probe("out.mp4")
        #expect(facts.contains("codec_name=mov_text") && facts.contains("codec_name=aac"))
        #expect(facts.contains("[CHAPTER]"))
        try bench.expect(0, "video", model, "out.mp4", "-o", "back.mkv", "--encoder", "ffv1")
        #expect(try bench.probe("back.mkv").contains("codec_name=subrip"))
        let result = try bench.expect(
            0, "video", model, "video.mkv", "-o", "all.mkv", "--encoder", "ffv1")
        #expect(!result.messages.contains("is dropped"))
        let all = try bench.probe("all.mkv")
        for fact in ["codec_name=subrip", "codec_name=aac", "TAG:filename=font.ttf"] {
            #expect(all.contains(fact), "\(fact) is missing: \(all)")
        }
    }

    /// The message has the cause, and not only what followed from it.
    @Test func soundThatDoesNotFitIsAnError() throws {
        try bench.ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=66x46:rate=25:duration=0.4", "-f", "lavfi", "-i",
            "sine=duration=0.4", "-c:v", "ffv1", "-c:a", "wmav2", "video.mkv")
        for more in [[], ["--resume"]] {
            let command = ["video", model, "video.mkv", "-o", "out.flv", "--encoder", "flv"]
            let result = try bench.expect(1, command + more, says: ["out.flv", "wmav2"])
            #expect(more.isEmpty || !result.messages.contains("frames"))
        }
        #expect(!bench.files.contains("out.flv.parts/00000.flv"))
    }

    @Test func saysWhatTheContainerDoesNotState() throws {
        try bench.ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=66x46:rate=25:duration=0.2", "-c:v", "mpeg4",
            "video.mp4")
        try bench.expect(
            0, "video", model, "video.mp4", "-o", "out.mkv", "--encoder", "ffv1",
            says: ["states no matrix: assuming bt601", "states no range: assuming limited"])
    }

    @Test func aStatedRangeIsOverridden() throws {
        try bench.makeContainer("video.mkv", layout: "yuv420p")
        try bench.expect(
            0, "video", model, "video.mkv", "-o", "out.mkv", "--encoder", "ffv1", "--range", "full")
        #expect(try bench.probe("video.mkv").contains("color_range=tv"))
        #expect(try bench.probe("out.mkv").contains("color_range=pc"))
    }

    /// retint's own error is not reported as an error of the video.
    @Test func anAnchorOfAnotherShapeIsNamed() throws {
        try bench.makeContainer("video.mkv", layout: "yuv420p", seconds: 20)
        try Image(width: 40, height: 40, pixels: [UInt8](repeating: 9, count: 4800))
            .write(to: bench.path("square.png"))
        let result = try bench.expect(
            65, "video", model, "video.mkv", "-o", "out.mkv", "--anchor", "square.png",
            says: ["video.mkv: anchor 1: has 40 × 40 pixels, for a video of 66 × 46"])
        #expect(!result.messages.contains("pipe"))
    }

    /// Red, green and blue become Y'CbCr of the matrix that the colored video is tagged with.
    @Test func colorsOfRGBVideosAreKept() throws {
        try bench.ffmpeg(
            "-f", "lavfi", "-i", "color=0x00aa00:size=32x720:rate=25:duration=0.08,format=gbrp",
            "-c:v", "ffv1", "video.mkv")
        try bench.expect(
            0, "video", model, "video.mkv", "-o", "out.mkv", "--encoder", "ffv1", "--blend", "0")
        #expect(try bench.probe("out.mkv").contains("color_space=bt709"))
        let frame = try #require(try bench.stream("out.mkv", "yuv444p").first)
        // BT.709: 16 + 219 · 0.7152 · 170/255.
        #expect(frame.luma.bytes[0] == 120)
    }

    // MARK: Times

    /// When each frame is shown.
    private func times(_ name: String) throws -> [String] {
        let text = try runProcess(
            URL(filePath: "/usr/bin/ffprobe"),
            [
                "-v", "error", "-select_streams", "v:0", "-show_entries", "frame=pts_time", "-of",
                "csv=p=0", name,
            ], in: bench.directory
        ).output
        return text.split(separator: "\n").map { $0.filter { $0 != "," } }
    }

    /// Frames that come irregularly, after the sound has begun.
    private func makeIrregularVideo(_ name: String, layout: String, range: String) throws {
        let filter =
            "select='not(mod(n\\,3))+lt(n\\,20)',settb=1/90000,setpts=PTS+random(0)*900+63000"
        try bench.ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=66x46:rate=30:duration=2", "-f", "lavfi", "-i",
            "sine=duration=3", "-filter:v", filter, "-fps_mode", "vfr", "-enc_time_base",
            "1:90000", "-c:v", "ffv1", "-pix_fmt", layout, "-color_range", range, "-c:a", "flac",
            name)
    }

    /// Every frame is there once, at its time, in every layout that is read.
    @Test(
        arguments: [
            "yuv420p", "yuv422p", "yuv444p", "gray", "yuv420p10le", "yuv422p10le", "yuv444p10le",
            "gray10le",
        ].sampled("layouts"))
    func timesAreKept(_ layout: String) throws {
        let range = layout.hasPrefix("yuv444") ? "pc" : "tv"
        try makeIrregularVideo("video.mkv", layout: layout, range: range)
        let before = try times("video.mkv")
        #expect(before.count == 33 && before.first?.hasPrefix("0.70") == true)
        let gaps = zip(before, before.dropFirst()).map { (Double($1) ?? 0) - (Double($0) ?? 0) }
        #expect(Set(gaps.map { ($0 * 1000).rounded() }).count > 5)
        try bench.expect(
            0, "video", model, "video.mkv", "-o", "out.mkv", "--encoder", "ffv1",
            says: ["33 frames"]
        )
        #expect(try times("out.mkv") == before)
        #expect(try bench.probe("out.mkv").contains("color_range=\(range)"))
        let planes = try ["video.mkv", "out.mkv"].map { name in
            try bench.ffmpeg(
                "-i", name, "-vf", "extractplanes=y", "-fps_mode", "passthrough", "-f", "rawvideo",
                "\(name).y")
            return try Data(contentsOf: URL(filePath: bench.path("\(name).y")))
        }
        #expect(planes[0] == planes[1] && planes[0].count >= 33 * 66 * 46)
    }

    /// Units finer than some encoders take are rounded to 1/60000 s.
    @Test func timesAreKeptInOtherContainers() throws {
        try makeIrregularVideo("video.mkv", layout: "yuv420p", range: "tv")
        try bench.ffmpeg(
            "-i", "video.mkv", "-fps_mode", "passthrough", "-enc_time_base", "1:90000",
            "-video_track_timescale", "90000", "-c:v", "libx264", "-c:a", "aac", "video.mp4")
        let before = try times("video.mp4").compactMap(Double.init)
        try bench.expect(0, "video", model, "video.mp4", "-o", "out.mp4", "--encoder", "mpeg4")
        let after = try times("out.mp4").compactMap(Double.init)
        #expect(before.count == 33 && after.count == 33)
        #expect(zip(before, after).allSatisfy { abs($0 - $1) < 2e-5 })
        // A stream of constant rate repeats frames.
        try bench.expect(0, "video", model, "video.mp4", "-o", "out.y4m")
        #expect(try bench.frames("out.y4m").count > 50)
    }

    /// A video in parts gets a constant rate, and keeps its length.
    @Test func partsHaveAConstantRate() throws {
        try makeIrregularVideo("video.mkv", layout: "yuv420p", range: "tv")
        try bench.expect(
            0, "video", model, "video.mkv", "-o", "out.mkv", "--encoder", "ffv1", "--resume")
        let (before, after) = (try times("video.mkv"), try times("out.mkv"))
        #expect(after.count > before.count)
        let ends = [before, after].map { $0.last.flatMap(Double.init) ?? 0 }
        #expect(abs(ends[0] - ends[1]) < 0.1)
    }

    // MARK: Ends

    /// Ctrl-C leaves a video that can be played.
    @Test func interruptionEndsTheVideo() throws {
        try bench.makeContainer("video.mkv", layout: "yuv420p", seconds: 400)
        let process = try RunningProcess(
            builtProgram("retint"), ["video", model, "video.mkv", "-o", "out.mkv"],
            in: bench.directory)
        while process.isRunning, try bench.size("out.mkv") < 1 << 16 {
            Thread.sleep(forTimeInterval: 0.05)
        }
        process.interrupt()
        let result = try process.wait(limit: 60)
        #expect(result.code == 130)
        #expect(result.messages.contains("interrupted; out.mkv has the"))
        let count = try bench.stream("out.mkv", "yuv420p").count
        #expect(count > 10 && count < 9000)
        // The sound ends with the pictures, not with the source.
        let ends = try ends("out.mkv")
        let (pictures, sound) = (try #require(ends["video"]), try #require(ends["audio"]))
        #expect(abs(sound - pictures) < 2, "\(ends)")
    }

    /// Whenever Ctrl-C comes, there is a video that can be played: the new one, with its sound, or
    /// the earlier one.
    @Test func anEarlyInterruptionLeavesAVideo() throws {
        try bench.makeContainer("video.mkv", layout: "yuv420p", seconds: 100)
        for delay in [0.1, 0.2, 0.3, 0.45, 0.6] {
            try bench.makeContainer("out.mkv", layout: "yuv420p", seconds: 1)
            let process = try RunningProcess(
                builtProgram("retint"),
                ["video", model, "video.mkv", "-o", "out.mkv", "--threads", "1", "--size", "32"],
                in: bench.directory)
            Thread.sleep(forTimeInterval: delay)
            process.interrupt()
            let result = try process.wait(limit: 60)
            // On a slow machine, the signal may come before the program handles it.
            #expect(result.code == 130 || result.isSignaled && result.code == SIGINT)
            #expect(try bench.stream("out.mkv", "yuv420p").count > 0, "\(result.messages)")
            let ends = try ends("out.mkv")
            let (pictures, sound) = (try #require(ends["video"]), try #require(ends["audio"]))
            #expect(abs(sound - pictures) < 0.5, "\(ends)")
        }
    }

    /// ffmpeg succeeds on a full disk, if the container can be cut off, as some versions do. What
    /// cannot be played is removed.
    @Test(arguments: [("mkv", 0), ("mp4", 1)])
    func aFullDiskIsAnError(_ container: String, _ status: Int) throws {
        try bench.makeContainer("video.mkv", layout: "yuv420p", seconds: 4)
        let output = "out.\(container)"
        let script = """
            #!/bin/sh
            /usr/bin/ffmpeg "$@" || exit
            case "$*" in *\(output)*) ;; *) exit ;; esac
            echo 'Error writing trailer of x: No space left on device' >&2
            exit \(status)
            """
        try bench.makeDirectory("bin")
        chmod(bench.path(try bench.write(Data(script.utf8), to: "bin/ffmpeg")), 0o755)
        let result = try bench.run(
            ["video", model, "video.mkv", "-o", output, "--size", "32"],
            environment: ["PATH": "\(bench.path("bin")):/usr/bin:/bin"])
        #expect(result.code == 1, "\(result.messages)")
        #expect(result.messages.contains("No space left on device"), "\(result.messages)")
        let isPlayable = container == "mkv"
        #expect(FileManager.default.fileExists(atPath: bench.path(output)) == isPlayable)
    }

    /// An encoder that ends is an error of the call, and no signal that ends the process.
    @Test func anEncoderThatEndsIsAnError() async throws {
        try bench.makeContainer("video.mkv", layout: "yuv420p", seconds: 4)
        var options = VideoColoringOptions()
        options.encoder = "nonesuch"
        let model = try Model(contentsOf: bench.path(model))
        await #expect(throws: VideoError.self) {
            try await model.colorizeVideo(
                from: bench.path("video.mkv"), to: bench.path("out.mkv"), options)
        }
    }
}

extension CommandBench {
    /// The bytes of a file; 0 if it does not exist.
    fileprivate func size(_ name: String) throws -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path(name))
        return attributes?[.size] as? Int ?? 0
    }
}

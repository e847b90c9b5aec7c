import Foundation
import Retint
import RetintCommandSupport
import RetintTestSupport
import Testing

/// `retint video` on YUV4MPEG2.
@Suite(.sampled()) struct VideoCommandTests {
    private let bench: CommandBench
    private let model: String

    init() throws {
        bench = try CommandBench()
        model = try bench.makeCheckpoint()
    }

    @Test(arguments: ["420jpeg", "422", "444", "mono", "420p10", "422p10", "444p10", "mono10"])
    func lightnessStaysBitByBit(_ layout: String) throws {
        try bench.makeVideo("video.y4m", layout: layout, tags: " XCOLORRANGE=FULL")
        try bench.expect(0, "video", model, "video.y4m", "-o", "out.y4m", says: ["5 frames"])
        let (before, after) = (
            try bench.frames("video.y4m"), try bench.frames("out.y4m")
        )
        #expect(after.count == 5)
        for (old, new) in zip(before, after) {
            #expect(new.luma.bytes == old.luma.bytes)
            #expect(new.format == old.format.colored)
            #expect(new.cb?.bytes != old.cb?.bytes)
        }
    }

    /// Colors follow those of the frame before, whatever runs beside.
    @Test func threadsGiveTheSameVideo() throws {
        try bench.makeVideo("video.y4m", frames: 9)
        for threads in ["1", "3"] {
            try bench.expect(
                0, "video", model, "video.y4m", "-o", "\(threads).y4m", "--threads", threads)
        }
        let videos = try ["1", "3"].map {
            try Data(contentsOf: URL(filePath: bench.path("\($0).y4m")))
        }
        #expect(videos[0] == videos[1])
        #expect(try bench.frames("1.y4m").count == 9)
    }

    /// Frames of a YUV4MPEG2 stream have no timestamps that a container could keep.
    @Test(arguments: ["out.mkv", "out.mp4", "out.avi"])
    func streamsBecomeContainers(name: String) throws {
        try bench.makeVideo("video.y4m", tags: " XCOLORRANGE=LIMITED")
        try bench.expect(0, "video", model, "video.y4m", "-o", name, says: ["5 frames"])
        try bench.ffmpeg("-i", name, "-f", "yuv4mpegpipe", "-pix_fmt", "yuv420p", "back.y4m")
        #expect(try bench.frames("back.y4m").count == 5)
    }

    /// A pipe that stays open and silent does not keep Ctrl-C from ending the video.
    @Test func aSilentPipeIsInterrupted() throws {
        try bench.makeVideo("video.y4m", frames: 2)
        let process = try RunningProcess(
            URL(filePath: "/bin/bash"),
            [
                "-c", "mkfifo pipe; exec 3<>pipe; cat video.y4m >&3; exec \"$@\" <&3", "bash",
                builtProgram("retint").path, "video", model, "-", "-o", "out.y4m",
            ], in: bench.directory)
        while process.isRunning, !FileManager.default.fileExists(atPath: bench.path("out.y4m")) {
            Thread.sleep(forTimeInterval: 0.02)
        }
        process.interrupt()
        let result = try process.wait(limit: 60)
        #expect(result.code == 130 && !result.isSignaled, "\(result.messages)")
        #expect(result.messages.contains("interrupted"))
    }

    @Test func saysWhatTheVideoDoesNotState() throws {
        try bench.makeVideo("video.y4m", frames: 1)
        try bench.expect(
            0, "video", model, "video.y4m", "-o", "out.y4m",
            says: ["no matrix: assuming bt601", "no range: assuming limited"])
        let told = try bench.expect(
            0, "video", model, "video.y4m", "-o", "told.y4m", "--matrix", "bt709", "--range", "full"
        )
        #expect(!told.messages.contains("assuming"))
        let videos = try ["out", "told"].map { try bench.frames("\($0).y4m")[0] }
        #expect(videos[0].luma.bytes == videos[1].luma.bytes)
        #expect(videos[0].cr?.bytes != videos[1].cr?.bytes)
    }

    @Test func aTruncatedVideoGivesWhatIsWhole() throws {
        let data = try bench.makeVideo("video.y4m", frames: 4)
        _ = try bench.write(data.dropLast(10), to: "short.y4m")
        try bench.expect(
            1, "video", model, "short.y4m", "-o", "out.y4m", says: ["ends inside frame 4"])
        #expect(try bench.frames("out.y4m").count == 3)
    }

    /// The option counts, not what the stream states.
    @Test func aStatedRangeIsOverridden() throws {
        try bench.makeVideo("video.y4m", frames: 1, tags: " XCOLORRANGE=LIMITED")
        for range in ["full", "limited"] {
            try bench.expect(
                0, "video", model, "video.y4m", "-o", "\(range).y4m", "--range", range)
        }
        try bench.expect(0, "video", model, "video.y4m", "-o", "stated.y4m")
        let videos = try ["full", "limited", "stated"].map { try bench.frames("\($0).y4m")[0] }
        #expect(videos.map(\.format.range) == [.full, .limited, .limited])
        #expect(videos[0].cb?.bytes != videos[1].cb?.bytes && videos[1] == videos[2])
        #expect(videos[0].luma.bytes == videos[1].luma.bytes)
    }

    /// Without colors, Cb and Cr are those of gray; anchors and luma are not concerned.
    @Test func saturationScalesTheColors() throws {
        try bench.makeVideo("video.y4m", frames: 2)
        let model = try bench.makeLivelyCheckpoint()
        for factor in ["0", "1", "2"] {
            try bench.expect(
                0, "video", model, "video.y4m", "-o", "\(factor).y4m", "--saturation", factor)
        }
        try bench.expect(0, "video", model, "video.y4m", "-o", "plain.y4m")
        let gray = try bench.frames("0.y4m")
        #expect(gray.allSatisfy { $0.cb?.bytes.allSatisfy { $0 == 128 } == true })
        #expect(try bench.frames("1.y4m") == bench.frames("plain.y4m"))
        let chroma = try ["1", "2"].map { name in
            try bench.frames("\(name).y4m")[1].cb?.bytes.reduce(0) { $0 + abs(Int($1) - 128) } ?? 0
        }
        #expect(chroma[0] > 0 && Double(chroma[1]) > 1.5 * Double(chroma[0]), "\(chroma)")
        try bench.expect(
            64, "video", model, "video.y4m", "-o", "x.y4m", "--saturation", "5",
            says: ["--saturation 5.0: must be from 0 to 4"])
    }

    @Test func absurdNumbersAreRefused() throws {
        try bench.makeVideo("video.y4m", frames: 1)
        for (option, value) in [
            ("--size", "0"), ("--size", "16385"), ("--size", "9223372036854775807"),
            ("--threads", "1025"), ("--threads", "-1"),
        ] {
            try bench.expect(
                64, "video", model, "video.y4m", "-o", "out.y4m", "\(option)=\(value)",
                says: ["\(option) \(value): must be from 1 to"])
        }
    }

    /// What a file says cannot move the cursor, or look like a message of its own.
    @Test func textOfFilesIsEscaped() throws {
        _ = try bench.write(
            Data("YUV4MPEG2 W8 H8 C\u{1b}[31mred\u{202e}\n".utf8), to: "odd\nretint: done.y4m")
        let result = try bench.expect(
            65, "video", model, "odd\nretint: done.y4m", "-o", "out.y4m",
            says: ["odd\n  retint: done.y4m", "C\\u{1b}[31mred\\u{202e}"])
        #expect(!result.messages.unicodeScalars.contains("\u{1b}"))
        let long = String(repeating: "x", count: 50_000)
        let cut = try bench.expect(
            64, "video", model, "video.y4m", "-o", "out.y4m", "--range", long, says: [" …"])
        #expect(cut.messages.count < 16_100)
    }

    @Test func badInputIsRefused() throws {
        try bench.makeVideo("video.y4m", frames: 1)
        try bench.expect(65, "video", model, "none.y4m", "-o", "out.y4m", says: ["none.y4m"])
        _ = try bench.write(Data("no video".utf8), to: "text.y4m")
        try bench.expect(
            65, "video", model, "text.y4m", "-o", "out.y4m", says: ["does not begin with YUV4MPEG2"]
        )
        _ = try bench.write(Data("YUV4MPEG2 W8 H8 It\n".utf8), to: "tv.y4m")
        try bench.expect(
            65, "video", model, "tv.y4m", "-o", "out.y4m", says: ["interlaced", "bwdif"])
        try bench.expect(
            64, "video", model, "video.y4m", "-o", "./video.y4m", says: ["video.y4m"])
        try bench.expect(
            64, "video", model, "video.y4m", "-o", "out.y4m", "--start", "1", says: ["--start"])
        try bench.expect(
            64, "video", model, "video.y4m", "-o", "out.y4m", "--encoder", "x", says: ["no encoder"]
        )
        try bench.expect(64, "video", model, "video.y4m", "-o", "o.mkv", "--encoder-option", "crf")
        #expect(!bench.files.contains("out.y4m"))
    }

    @Test func aFullDiskIsAnError() throws {
        try bench.makeVideo("video.y4m")
        try bench.expect(
            1, "video", model, "video.y4m", "-o", "/no/such/folder.y4m",
            says: ["/no/such/folder.y4m"])
        try FileManager.default.createSymbolicLink(
            atPath: bench.path("full.y4m"), withDestinationPath: "/dev/full")
        try bench.expect(
            1, "video", model, "video.y4m", "-o", "full.y4m", says: ["full.y4m", "No space left"])
    }

    /// A live video has no more frames than were read, and says how many were left out.
    @Test func aLiveVideoCountsWhatItLeavesOut() throws {
        try bench.makeVideo("video.y4m", frames: 40)
        let result = try bench.expect(
            0, "video", model, "video.y4m", "-o", "out.y4m", "--live", "--size", "64")
        let count = try bench.frames("out.y4m").count
        #expect(count >= 1 && count <= 40)
        let frames = count == 1 ? "1 frame" : "\(count) frames"
        #expect(result.messages.contains("\(frames), \(40 - count) dropped"))
        // The last frame is never left out.
        #expect(
            try bench.frames("out.y4m").last?.luma
                .bytes == bench.frames("video.y4m").last?.luma.bytes)
    }
}

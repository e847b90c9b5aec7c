import Foundation
import Retint
import RetintCommandSupport
import RetintTestSupport
import Testing

/// `retint video --resume`.
@Suite(.sampled()) struct VideoPartsTests {
    private let bench: CommandBench
    private let model: String

    init() throws {
        bench = try CommandBench()
        model = try bench.makeCheckpoint()
    }

    /// An interrupted video continues after its finished parts, as if it had never stopped.
    @Test func aVideoGoesOnAfterAnInterruption() throws {
        let lively = try bench.makeLivelyCheckpoint()
        try bench.makeContainer("video.mkv", layout: "yuv420p", seconds: 36)
        let command = [
            "video", lively, "video.mkv", "-o", "out.mkv", "--resume", "--encoder", "ffv1",
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
        #expect(result.messages.contains("the same command continues"))
        #expect(result.messages.contains("this one begins at the start"))
        let early = try bench.stream("out.mkv", "yuv420p").count
        #expect(early >= 250 && early < 900)
        // Parts of another video are not used.
        try bench.expect(
            1, "video", lively, "video.mkv", "-o", "out.mkv", "--resume", "--encoder", "ffv1",
            says: ["out.mkv.parts", "remove the folder"])
        try bench.expect(0, command, says: ["out.mkv: 900 frames"])
        #expect(!FileManager.default.fileExists(atPath: bench.path("out.mkv.parts")))
        try bench.expect(
            0, "video", lively, "video.mkv", "-o", "whole.mkv", "--encoder", "ffv1", "--size", "32")
        #expect(try bench.stream("out.mkv", "yuv420p") == bench.stream("whole.mkv", "yuv420p"))
        let facts = try bench.probe("out.mkv")
        for fact in ["codec_name=pcm_s16le", "TAG:title=Clouds", "[CHAPTER]"] {
            #expect(facts.contains(fact), "\(fact) is missing: \(facts)")
        }
    }

    /// Parts of a video that has changed since are not used.
    @Test func partsBelongToOneVersionOfTheVideo() throws {
        try bench.makeContainer("video.mkv", layout: "yuv420p")
        let command = [
            "video", model, "video.mkv", "-o", "out.mkv", "--resume", "--encoder", "ffv1",
        ]
        // Damaged, so that the parts stay.
        let data = try Data(contentsOf: URL(filePath: bench.path("video.mkv")))
        _ = try bench.write(data.prefix(data.count * 3 / 4), to: "video.mkv")
        try bench.expect(1, command, says: ["video.mkv"])
        #expect(bench.files.contains("out.mkv.parts/video.json"))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1e9)],
            ofItemAtPath: bench.path("video.mkv"))
        try bench.expect(1, command, says: ["has segments of another video"])
    }

    /// A folder that somebody else made is neither written to nor removed.
    @Test func anotherFolderIsLeftAlone() throws {
        try bench.makeContainer("video.mkv", layout: "yuv420p")
        try bench.makeDirectory("out.mkv.parts")
        _ = try bench.write(Data("mine".utf8), to: "out.mkv.parts/00000.mkv")
        try bench.expect(
            1, "video", model, "video.mkv", "-o", "out.mkv", "--resume", "--encoder", "ffv1",
            says: ["out.mkv.parts: exists, but contains no segments of a video"])
        #expect(
            try Data(contentsOf: URL(filePath: bench.path("out.mkv.parts/00000.mkv")))
                == Data("mine".utf8))
        #expect(!bench.files.contains("out.mkv.parts/video.json"))
    }

    @Test func partsNeedAContainer() throws {
        try bench.makeVideo("video.y4m")
        for arguments in [["video.y4m", "-o", "out.y4m"], ["-", "-o", "out.mkv"]] {
            try bench.expect(
                64, ["video", model] + arguments + ["--resume"], says: ["--resume needs"])
        }
    }
}

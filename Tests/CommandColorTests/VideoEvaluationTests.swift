import Foundation
import Retint
import RetintColor
import RetintCommandSupport
import RetintTestSupport
import RetintVideo
import Testing

@testable import RetintMeasuring

/// `retint evaluate --video`, and what it is made of.
@Suite(.sampled()) struct VideoEvaluationTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    @Test func measuresClipsOfPhotos() throws {
        let model = try bench.makeCheckpoint()
        try bench.makeDirectory("data")
        for name in ["a.png", "b.png"] { _ = try bench.makePhoto("data/\(name)") }
        _ = try bench.write(Data("none".utf8), to: "data/broken.png")
        let result = try bench.expect(
            65, "evaluate", model, "--data", "data", "--video", "--size", "64", "--json",
            says: ["broken.png"])
        let report = try bench.json(result)
        let videos = try #require(report["videos"] as? [[String: Any]])
        #expect(
            videos.map { $0["kind"] as? String }
                == ["pan", "zoom", "exposure", "pan", "zoom", "exposure"])
        #expect(videos.allSatisfy { $0["frames"] as? Int == 16 && $0["cuts"] as? Int == 0 })
        let means = try #require(report["means"] as? [[String: Any]])
        #expect(means.map { $0["kind"] as? String } == ["pan", "zoom", "exposure"])
        for mean in means {
            let original = try #require(mean["original"] as? [String: Any])
            #expect(original["delta_e2000"] as? Double == 0)
            #expect(mean["videos"] as? Int == 2)
            for column in ["stable", "per_frame"] {
                let quality = try #require(mean[column] as? [String: Any])
                #expect(try #require(quality["delta_e2000"] as? Double) > 1)
                #expect(try #require(quality["warp_error"] as? Double) >= 0)
                #expect(try #require(quality["cdc"] as? Double) >= 0)
            }
        }
        #expect(report["failed"] as? Int == 1)
        let table = try bench.expect(
            65, "evaluate", model, "--data", "data", "--video", "--size", "64")
        #expect(table.output.hasPrefix("6 videos at 64 × 64, 96 frames, 0 scene cuts\n"))
    }

    /// A video of two scenes, each of which moves.
    @Test func measuresAVideo() throws {
        let model = try bench.makeCheckpoint()
        _ = try bench.write(try Self.video(), to: "video.y4m")
        let result = try bench.expect(
            0, "evaluate", model, "--data", "video.y4m", "--video", "--size", "64", "--json")
        let videos = try #require(try bench.json(result)["videos"] as? [[String: Any]])
        #expect(videos.count == 1)
        #expect(videos[0]["kind"] as? String == "video")
        #expect(videos[0]["frames"] as? Int == 8 && videos[0]["cuts"] as? Int == 1)
    }

    /// Frames that are 1 or 2 apart have other colors, those that are 4 apart the same.
    @Test func distributionsAreComparedOneTwoAndFourFramesApart() throws {
        let colors: [(a: Float, b: Float)] = [(40, 0), (0, 40), (-40, 0), (0, -40)]
        let frames = (0..<8).map { index in
            let color = colors[index % 4]
            return LabPlanes(
                l: [Float](repeating: 60, count: 16), a: [Float](repeating: color.a, count: 16),
                b: [Float](repeating: color.b, count: 16))
        }
        var measure = VideoMeasure()
        for frame in frames {
            try measure.add(a: frame.a, b: frame.b, original: frame, motion: nil)
        }
        let distributions = frames.map { ColorDistribution(ofRGB: $0.rgb()) }
        let means = [1, 2, 4].map { distance in
            let pairs = zip(distributions, distributions.dropFirst(distance))
            return pairs.reduce(0) { $0 + $1.1.divergence(from: $1.0) } / Double(8 - distance)
        }
        #expect(means[0] > 0.1 && means[1] > 0.1 && means[2] == 0)
        let cdc = try #require(measure.quality?.cdc)
        #expect(abs(cdc - (means[0] + means[1]) / 3) < 1e-9)
    }

    /// Eight frames of 4:4:4; the picture changes after the fourth.
    static func video() throws -> Data {
        let format = try FrameFormat(width: 96, height: 64, chroma: .yuv444)
        var data = Data("\(try Y4MHeader("YUV4MPEG2 W96 H64 F25:1 Ip C444").line)\n".utf8)
        for number in 0..<8 {
            data += Data("FRAME\n".utf8)
            for plane in 0..<3 {
                for y in 0..<format.height {
                    for x in 0..<format.width {
                        let seed = plane + (number < 4 ? 0 : 10)
                        data.append(spots(x + 2 * number, y, seed: seed))
                    }
                }
            }
        }
        return data
    }

    /// Squares of 5 pixels in levels from 40 to 215.
    private static func spots(_ x: Int, _ y: Int, seed: Int) -> UInt8 {
        var bits = UInt32(truncatingIfNeeded: (x / 5) &* 73_856_093 ^ (y / 5) &* 19_349_663)
        bits = (bits ^ UInt32(seed) &* 83_492_791) &* 0x2c1b_3c6d
        bits = (bits ^ bits >> 13) &* 0x297a_2d39
        return UInt8(40 + (bits >> 16) % 176)
    }

    @Test func videosWithoutColorAreRefused() throws {
        let model = try bench.makeCheckpoint()
        var mono = Data("YUV4MPEG2 W32 H32 F25:1 Ip Cmono\nFRAME\n".utf8)
        mono += Data(repeating: 90, count: 32 * 32)
        _ = try bench.write(mono, to: "mono.y4m")
        try bench.expect(
            65, "evaluate", model, "--data", "mono.y4m", "--video",
            says: ["mono.y4m", "no color to compare with"])
        try bench.expect(
            64, "evaluate", model, "--data", "mono.y4m", "--video", "--html", "page.html",
            says: ["--html"])
    }

    // MARK: Clips

    /// Following the exact motion back gives the same picture.
    @Test(arguments: PhotoClip.Kind.allCases)
    func clipsMoveAsTheySay(_ kind: PhotoClip.Kind) throws {
        let photo = Image(contentsOf: 90, 70)
        let clip = PhotoClip(photo, kind, index: 4, width: 48, height: 40)
        for number in [1, 7, PhotoClip.frameCount - 1] {
            let (now, before) = (clip.frame(number), clip.frame(number - 1))
            let motion = clip.motion(number)
            var error = WarpError()
            error.add(now.redAndBlue, after: before.redAndBlue, along: motion)
            // Levels of 0 to 255; the exposure changes them by about a tenth of a stop.
            #expect(error.mean < (kind == .exposure ? 14 : 2), "\(kind) \(number): \(error.mean)")
            let travel = zip(motion.dx, motion.dy).map { abs($0) + abs($1) }.max() ?? 0
            #expect(kind == .exposure ? travel < 1e-4 : travel > 0.5)
        }
    }

    /// Pans differ from photo to photo, and stay within the photo.
    @Test func pansGoInSeveralDirections() {
        let photo = Image(contentsOf: 90, 70)
        let motions = (0..<6).map {
            PhotoClip(photo, .pan, index: $0, width: 48, height: 40).motion(1)
        }
        #expect(Set(motions.map { [$0.dx[0], $0.dy[0]] }).count == 6)
    }
}

extension Image {
    /// A smooth picture in color.
    fileprivate init(contentsOf width: Int, _ height: Int) {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let (u, v) = (Double(x) / 9, Double(y) / 7)
                pixels += [sin(u) + sin(v), sin(u + v), cos(u - v)].map {
                    UInt8(128 + 55 * $0)
                }
            }
        }
        self.init(width: width, height: height, pixels: pixels)
    }

    /// Two channels as planes.
    fileprivate var redAndBlue: (a: [Float], b: [Float]) {
        func plane(_ channel: Int) -> [Float] {
            stride(from: channel, to: pixels.count, by: 3).map { Float(pixels[$0]) }
        }
        return (plane(0), plane(2))
    }
}

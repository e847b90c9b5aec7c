import RetintVideo
import Testing

@testable import RetintVideo

/// What `ffprobe` prints about videos, also about those that state nonsense.
@Suite struct VideoPropertiesTests {
    private func video(_ stream: String, format: String = "{}") throws -> VideoProperties {
        let pictures = #"{"index": 0, "codec_type": "video", "pix_fmt": "yuv420p", \#(stream)}"#
        let sound = #"{"index": 1, "codec_type": "audio", "codec_name": "aac"}"#
        let text = #"{"streams": [\#(pictures), \#(sound)], "format": \#(format)}"#
        return try VideoProperties(description: Array(text.utf8), of: "video.mp4")
    }

    @Test func readsWhatIsStated() throws {
        let video = try video(
            #"""
            "nb_frames": "300", "avg_frame_rate": "30000/1001", "time_base": "1/30000",
            "color_range": "pc", "color_space": "bt709", "start_time": "1.5", "height": 720
            """#, format: #"{"start_time": "0.5"}"#)
        #expect(video.frameCount == 300 && video.height == 720 && video.delay == 1)
        #expect(video.rate == Y4MHeader.FrameRate(numerator: 30_000, denominator: 1001))
        #expect(video.timeBase == TimeBase(1, 30_000))
        #expect(video.range == .full && video.matrix == .bt709)
        #expect(video.otherStreams.map(\.codec) == ["aac"])
    }

    @Test(arguments: ["-5", "0", "1000000000", "9223372036854775808", "many", ""])
    func countsThatAreNoneAreEstimated(count: String) throws {
        let stated = #""nb_frames": "\#(count)", "avg_frame_rate": "25/1""#
        #expect(try video(stated).frameCount == nil)
        #expect(try video(stated + #", "duration": "4""#).frameCount == 100)
        for seconds in ["nan", "inf", "1e300", "-4"] {
            #expect(try video(stated + #", "duration": "\#(seconds)""#).frameCount == nil)
        }
    }

    @Test func absurdTimesAreLeftOut() throws {
        let video = try video(
            #"""
            "avg_frame_rate": "0/0", "r_frame_rate": "9999999999/1", "time_base": "0/1",
            "start_time": "1e300"
            """#)
        #expect(video.rate == nil && video.timeBase == nil && video.delay == 0)
    }

    @Test(arguments: [
        ("", "ffprobe does not recognize it as a video"), (#"{"streams": []}"#, "has no pictures"),
        (
            #"{"streams": [{"index": 0, "codec_type": "video", "pix_fmt": "gray", "#
                + #""field_order": "tt"}]}"#, "its frames are interlaced (tt)"
        ),
    ])
    func refusesWhatIsNoVideo(description: String, reason: String) throws {
        let error = #expect(throws: VideoError.self) {
            try VideoProperties(description: Array(description.utf8), of: "video.mp4")
        }
        #expect(error?.description.contains("video.mp4: \(reason)") == true)
    }
}

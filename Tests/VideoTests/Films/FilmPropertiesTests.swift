import RetintVideo
import Testing

@testable import RetintVideo

/// What `ffprobe` prints about videos, also about those that state nonsense.
@Suite struct FilmPropertiesTests {
    private func film(_ stream: String, format: String = "{}") throws -> FilmProperties {
        let pictures = #"{"index": 0, "codec_type": "video", "pix_fmt": "yuv420p", \#(stream)}"#
        let sound = #"{"index": 1, "codec_type": "audio", "codec_name": "aac"}"#
        let text = #"{"streams": [\#(pictures), \#(sound)], "format": \#(format)}"#
        return try FilmProperties(description: Array(text.utf8), of: "film.mp4")
    }

    @Test func readsWhatIsStated() throws {
        let film = try film(
            #"""
            "nb_frames": "300", "avg_frame_rate": "30000/1001", "time_base": "1/30000",
            "color_range": "pc", "color_space": "bt709", "start_time": "1.5", "height": 720
            """#, format: #"{"start_time": "0.5"}"#)
        #expect(film.frameCount == 300 && film.height == 720 && film.delay == 1)
        #expect(film.rate == FrameRate(numerator: 30_000, denominator: 1001))
        #expect(film.timeBase == TimeBase(1, 30_000))
        #expect(film.range == .full && film.matrix == .bt709)
        #expect(film.otherStreams.map(\.codec) == ["aac"])
    }

    @Test(arguments: ["-5", "0", "1000000000", "9223372036854775808", "many", ""])
    func countsThatAreNoneAreEstimated(count: String) throws {
        let stated = #""nb_frames": "\#(count)", "avg_frame_rate": "25/1""#
        #expect(try film(stated).frameCount == nil)
        #expect(try film(stated + #", "duration": "4""#).frameCount == 100)
        for seconds in ["nan", "inf", "1e300", "-4"] {
            #expect(try film(stated + #", "duration": "\#(seconds)""#).frameCount == nil)
        }
    }

    @Test func absurdTimesAreLeftOut() throws {
        let film = try film(
            #"""
            "avg_frame_rate": "0/0", "r_frame_rate": "9999999999/1", "time_base": "0/1",
            "start_time": "1e300"
            """#)
        #expect(film.rate == nil && film.timeBase == nil && film.delay == 0)
    }

    @Test(arguments: [
        ("", "ffprobe describes it as no film"), (#"{"streams": []}"#, "it has no pictures"),
        (
            #"{"streams": [{"index": 0, "codec_type": "video", "pix_fmt": "gray", "#
                + #""field_order": "tt"}]}"#, "its frames are interlaced (tt)"
        ),
    ])
    func refusesWhatIsNoFilm(description: String, reason: String) throws {
        let error = #expect(throws: FilmError.self) {
            try FilmProperties(description: Array(description.utf8), of: "film.mp4")
        }
        #expect(error?.description.contains("film.mp4: \(reason)") == true)
    }
}

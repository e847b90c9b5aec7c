@testable import RetintVideo

/// What `ffprobe` prints about a film, with names and numbers that the film states.
struct FilmTarget: FuzzTarget {
    let name = "film"

    func seeds() -> [[UInt8]] {
        [
            """
            {"streams": [{"index": 0, "codec_type": "video", "codec_name": "h264", "height": 720,
              "pix_fmt": "yuv420p", "color_range": "tv", "color_space": "bt709",
              "color_transfer": "bt709", "color_primaries": "bt709", "field_order": "progressive",
              "nb_frames": "300", "duration": "10.01", "avg_frame_rate": "30000/1001",
              "r_frame_rate": "30/1", "time_base": "1/30000", "start_time": "0.1"},
             {"index": 1, "codec_type": "audio", "codec_name": "aac"},
             {"index": 2, "codec_type": "subtitle", "codec_name": "mov_text"}],
             "format": {"duration": "10.02", "start_time": "0"}}
            """,
            #"{"streams": [{"index": 0, "codec_type": "video", "pix_fmt": "gbrp10le"}]}"#,
        ].map { Array($0.utf8) }
    }

    func run(_ input: [UInt8]) throws {
        let film = try FilmProperties(description: input, of: "film.mp4")
        let layout = film.readLayout
        precondition([8, 10].contains(layout.bitDepth) && !film.readFormatName.isEmpty)
        precondition(film.delay >= 0 && film.delay < 1e6 && film.frameCount ?? 1 > 0)
    }
}

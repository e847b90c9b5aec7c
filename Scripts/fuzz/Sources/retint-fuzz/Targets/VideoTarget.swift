@testable import RetintVideo

/// What `ffprobe` prints about a video, with names and numbers that the video states.
struct VideoTarget: FuzzTarget {
    let name = "video"

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
        let video = try VideoProperties(description: input, of: "video.mp4")
        let layout = video.readLayout
        precondition([8, 10].contains(layout.bitDepth) && !video.readFormatName.isEmpty)
        precondition(video.delay >= 0 && video.delay < 1e6 && video.frameCount ?? 1 > 0)
    }
}

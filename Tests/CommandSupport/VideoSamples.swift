import Foundation
import RetintTestSupport
import RetintVideo
import Testing

// Videos for the tests of commands, and what they hold.

extension CommandBench {
    /// A video of frames that differ, with noise in Y' and in its old colors.
    @discardableResult
    package func makeVideo(
        _ name: String, frames: Int = 5, layout: String = "420jpeg", tags: String = ""
    ) throws -> Data {
        let reader = try Y4MHeader("YUV4MPEG2 W34 H22 F25:1 Ip C\(layout)\(tags)")
        let format = reader.format
        var data = Data("\(reader.line)\n".utf8)
        for frame in 0..<frames {
            data += Data("FRAME\n".utf8)
            data += (0..<format.byteCount).map { index in
                let sample = UInt8(truncatingIfNeeded: index &* 31 &+ frame &* 77 &+ index / 34)
                // The upper byte of a sample of 10 bits.
                return format.bitDepth > 8 && index % 2 == 1 ? sample & 3 : sample
            }
        }
        _ = try write(data, to: name)
        return data
    }

    /// The frames of a YUV4MPEG2 stream.
    package func frames(_ name: String) throws -> [Frame] {
        let reader = try FrameReader(contentsOf: path(name))
        var frames: [Frame] = []
        while let frame = try reader.next() { frames.append(frame) }
        return frames
    }

    /// Runs ffmpeg, which must succeed.
    package func ffmpeg(_ arguments: String...) throws {
        let result = try runProcess(
            URL(filePath: "/usr/bin/ffmpeg"), ["-nostdin", "-v", "error", "-y"] + arguments,
            in: directory)
        try #require(result.code == 0, "\(result.messages)")
    }

    /// Pictures of the given layout with a sound, chapters and a title, lossless.
    package func makeContainer(_ name: String, layout: String, seconds: Double = 0.4) throws {
        _ = try write(
            Data(";FFMETADATA1\ntitle=Clouds\n[CHAPTER]\nTIMEBASE=1/10\nSTART=0\nEND=2\n".utf8),
            to: "tags.txt")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=66x46:rate=25:duration=\(seconds)", "-f", "lavfi",
            "-i", "sine=duration=\(seconds)", "-i", "tags.txt", "-map_metadata", "2", "-c:v",
            "ffv1", "-pix_fmt", layout, "-colorspace", "bt709", "-color_range", "tv", "-c:a",
            "pcm_s16le",
            name)
    }

    /// The frames of a container.
    package func stream(_ name: String, _ layout: String) throws -> [Frame] {
        try ffmpeg(
            "-i", name, "-map", "0:v:0", "-f", "yuv4mpegpipe", "-strict", "-1", "-pix_fmt", layout,
            "\(name).y4m")
        return try frames("\(name).y4m")
    }

    /// What ffprobe prints about a video.
    package func probe(_ name: String) throws -> String {
        try runProcess(
            URL(filePath: "/usr/bin/ffprobe"),
            ["-v", "error", "-show_streams", "-show_chapters", "-show_format", name],
            in: directory
        ).output
    }
}

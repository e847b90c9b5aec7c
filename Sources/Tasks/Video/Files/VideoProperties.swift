import Foundation

/// What a video's container states about its pictures.
public struct VideoProperties: Hashable, Sendable {
    /// FFmpeg's name of the pixel format, such as `yuv420p`.
    package let pixelFormat: String
    /// The range, if it is stated.
    public let range: FrameFormat.SampleRange?
    /// The matrix, if it is stated.
    public let matrix: FrameFormat.ColorMatrix?
    /// FFmpeg's names of the matrix, the primaries and the transfer curve, if they are stated.
    let colorTags: [String: String]
    /// The number of frames, or an estimate of it; nil if unknown.
    public let frameCount: Int?
    /// The seconds that the pictures last; nil if it is not stated.
    let duration: Double?
    /// The mean number of frames per second; nil if it is not stated.
    let rate: Y4MHeader.FrameRate?
    /// The time base of the frames; nil if it is not stated.
    let timeBase: TimeBase?
    /// The seconds from the start of the video to its first frame.
    let delay: Double
    /// The height of the pictures in pixels; nil if it is not stated.
    let height: Int?
    /// The sound, the subtitles and the attached files.
    let otherStreams: [VideoStream]

    /// Asks `ffprobe`.
    ///
    /// - Throws: ``VideoError`` if the program is missing, or the file is not a video.
    init(of path: String) async throws {
        let bytes = try await MediaProgram.ffprobe.output(
            of: [
                "-v", "error", "-show_streams", "-show_format", "-of", "json",
                Self.argument(path),
            ], for: path)
        try self.init(description: bytes, of: path)
    }

    /// Reads the output of `ffprobe` for a video.
    package init(description bytes: [UInt8], of path: String) throws(VideoError) {
        let probe: Probe
        do {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            probe = try decoder.decode(Probe.self, from: Data(bytes))
        } catch {
            throw VideoError(.unreadable, file: path, "ffprobe does not recognize it as a video")
        }
        let pictures = probe.streams.first { $0.codecType == "video" }
        guard let stream = pictures, let format = stream.pixFmt else {
            throw VideoError(.unreadable, file: path, "has no pictures; name a video")
        }
        if let order = stream.fieldOrder, !["progressive", "unknown"].contains(order) {
            throw VideoError(
                .unreadable,
                file: path,
                "its frames are interlaced (\(order)); deinterlace first, for example "
                    + "with ffmpeg -vf bwdif")
        }
        (pixelFormat, height) = (format, stream.height)
        otherStreams = probe.streams.compactMap(\.other)
        let ticks = stream.timeBase.map { $0.split(separator: "/").compactMap { Int($0) } } ?? []
        timeBase = ticks.count == 2 ? TimeBase(ticks[0], ticks[1]) : nil
        rate = Y4MHeader.FrameRate(stream.avgFrameRate) ?? Y4MHeader.FrameRate(stream.rFrameRate)
        let starts = [stream.startTime, probe.format?.startTime].map {
            $0.flatMap(Double.init) ?? 0
        }
        delay = (0..<1e6).contains(starts[0] - starts[1]) ? starts[0] - starts[1] : 0
        range =
            stream.colorRange.flatMap { ["tv": .limited, "pc": .full][$0] }
            ?? (format.hasPrefix("yuvj") ? .full : nil)
        matrix = stream.colorSpace.flatMap { Self.matrices[$0] }
        let tags: [(option: String, value: String?)] = [
            ("-colorspace", stream.colorSpace), ("-color_primaries", stream.colorPrimaries),
            ("-color_trc", stream.colorTransfer),
        ]
        colorTags = tags.reduce(into: [:]) { result, tag in
            // RGB videos have no matrix; theirs is that of the frames they are converted to.
            if let value = tag.value, !["unknown", "gbr"].contains(value) {
                result[tag.option] = value
            }
        }
        duration = (stream.duration ?? probe.format?.duration).flatMap { Double($0) }
        let stated = stream.nbFrames.flatMap { Int($0) }
        frameCount =
            stated.flatMap { (1..<Self.mostFrames).contains($0) ? $0 : nil }
            ?? Self.estimate(duration, rate)
    }

    /// - Throws: ``VideoError`` if the part that is to be read starts after the end.
    func check(_ options: VideoReadingOptions, of path: String) throws(VideoError) {
        guard let start = options.start, let duration, start >= duration else { return }
        let length = String(format: "%.1f", duration)
        throw VideoError(
            .unreadable, file: path, "lasts \(length) s; it has no frame at \(start) s or later")
    }

    /// A path for FFmpeg: with a colon it would be taken for a protocol, with a dash for an option.
    static func argument(_ path: String) -> String { "file:\(path)" }

    private static let matrices: [String: FrameFormat.ColorMatrix] = [
        "bt709": .bt709, "bt470bg": .bt601, "smpte170m": .bt601, "bt2020nc": .bt2020,
    ]

    /// A video that states more frames is wrong.
    private static let mostFrames = 1_000_000_000

    /// The seconds of a video times its rate.
    private static func estimate(_ seconds: Double?, _ rate: Y4MHeader.FrameRate?) -> Int? {
        guard let seconds, let rate else { return nil }
        let count = seconds * rate.value
        return count >= 1 && count < Double(mostFrames) ? Int(count.rounded()) : nil
    }
}

extension Y4MHeader.FrameRate {
    /// A fraction as printed by `ffprobe`: `30000/1001`; nil for `0/0`, which means unknown.
    fileprivate init?(_ text: String?) {
        let parts = text?.split(separator: "/").compactMap { Int($0) } ?? []
        guard parts.count == 2, parts.allSatisfy({ (1...Int(Int32.max)).contains($0) }) else {
            return nil
        }
        self.init(numerator: parts[0], denominator: parts[1])
    }
}

/// The output of `ffprobe`.
private struct Probe: Decodable {
    struct Stream: Decodable {
        let pixFmt, colorRange, colorSpace, colorTransfer, colorPrimaries: String?
        let fieldOrder, nbFrames, duration, avgFrameRate, rFrameRate: String?
        let timeBase, startTime: String?
        let index: Int
        let height: Int?
        let codecType, codecName: String?

        /// Nil for pictures and data.
        var other: VideoStream? {
            codecType.flatMap { VideoStream.Kind(rawValue: $0) }.map {
                VideoStream(index: index, kind: $0, codec: codecName ?? "")
            }
        }
    }

    struct Format: Decodable {
        let duration, startTime: String?
    }

    let streams: [Stream]
    let format: Format?
}

extension VideoProperties {
    /// FFmpeg's name of the pixel format in which frames are read: the video's own if it can be
    /// colored directly.
    package var readFormatName: String { readFormat.name }

    /// Whether the video is RGB, and has no matrix.
    var isRGB: Bool { ["rgb", "bgr", "gbr", "pal8"].contains(where: pixelFormat.contains) }

    /// Whether the video has another layout, so that its Y' is converted.
    package var isConverted: Bool { readFormat.isConverted }

    /// The chroma format and the depth in which frames are read.
    var readLayout: (chroma: FrameFormat.ChromaSubsampling, bitDepth: Int) {
        let name = readFormatName
        let chroma: FrameFormat.ChromaSubsampling =
            name.hasPrefix("gray")
            ? .mono : name.contains("420") ? .yuv420 : name.contains("422") ? .yuv422 : .yuv444
        return (chroma, name.contains("10") ? 10 : 8)
    }

    private var readFormat: (name: String, isConverted: Bool) {
        switch pixelFormat {
        case "yuv420p", "yuv422p", "yuv444p", "gray": (pixelFormat, false)
        case "yuvj420p", "yuvj422p", "yuvj444p": (pixelFormat, false)
        case "yuv420p10le", "yuv422p10le", "yuv444p10le", "gray10le": (pixelFormat, false)
        case "nv12", "nv21": ("yuv420p", false)
        case "p010le": ("yuv420p10le", false)
        case let name
        where ["10", "12", "14", "16", "48", "64", "f32"].contains(where: name.contains):
            ("yuv444p10le", true)
        default: ("yuv444p", true)
        }
    }
}

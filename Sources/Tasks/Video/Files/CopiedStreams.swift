/// A stream other than the pictures of a video.
package struct VideoStream: Hashable, Sendable {
    enum Kind: String {
        case sound = "audio"
        case subtitles = "subtitle"
        case attachment
    }

    /// FFmpeg's number of the stream.
    let index: Int
    let kind: Kind
    /// FFmpeg's name of its codec, such as `subrip`; empty if unknown.
    let codec: String

    /// Its name for people.
    package var name: String {
        ["", "unknown"].contains(codec) ? kind.rawValue : "\(kind.rawValue) (\(codec))"
    }
}

/// The sound, subtitles and attached files of a video that are copied to a new one: all that the
/// new container supports. Text subtitles are converted to the container's own format, and sound of
/// which it does not support the codec to one that it does.
struct CopiedStreams {
    private let streams: [(stream: VideoStream, codec: String)]
    /// The streams that the container does not support.
    let omitted: [VideoStream]

    var isEmpty: Bool { streams.isEmpty }

    /// - Parameter path: the path of the new video; its extension selects the container.
    init(_ streams: [VideoStream], in path: String) {
        let container = Container(path)
        var copied: [(stream: VideoStream, codec: String)] = []
        var omitted: [VideoStream] = []
        for stream in streams {
            if let codec = container.codec(of: stream) {
                copied.append((stream, codec))
            } else {
                omitted.append(stream)
            }
        }
        (self.streams, self.omitted) = (copied, omitted)
    }

    /// The arguments of `ffmpeg` that copy the streams.
    ///
    /// - Parameter input: the number of the input that has them.
    func arguments(fromInput input: Int) -> [String] {
        let maps = streams.flatMap { ["-map", "\(input):\($0.stream.index)"] }
        return maps + ["-c:t", "copy"] + codecs(.sound, "a") + codecs(.subtitles, "s")
    }

    private func codecs(_ kind: VideoStream.Kind, _ letter: String) -> [String] {
        streams.filter { $0.stream.kind == kind }.enumerated()
            .flatMap { ["-c:\(letter):\($0)", $1.codec] }
    }
}

/// A family of containers that support the same kinds of streams.
private enum Container {
    case matroska, mp4, quickTime, webm, transport, pictures, other

    init(_ path: String) {
        self =
            switch path.split(separator: ".").last?.lowercased() {
            case "mkv", "mka": .matroska
            case "mp4", "m4v": .mp4
            case "mov": .quickTime
            case "webm": .webm
            case "ts", "m2ts", "mts": .transport
            case "gif", "y4m", "-": .pictures
            default: .other
            }
    }

    private static let texts: Set = ["subrip", "ass", "ssa", "mov_text", "webvtt", "text"]

    /// The codecs of sound that are copied, and the encoder for others; nil where all are copied.
    private var sounds: (copied: Set<String>, encoder: String)? {
        let common: Set = ["aac", "ac3", "dts", "eac3", "mp2", "mp3"]
        return switch self {
        case .mp4: (common.union(["alac", "flac", "opus"]), "aac")
        case .quickTime: (common.union(["alac"]), "aac")
        case .transport: (common.union(["opus"]), "aac")
        case .webm: (["opus", "vorbis"], "libopus")
        case .matroska, .pictures, .other: nil
        }
    }

    private func sound(_ codec: String) -> String? {
        guard self != .pictures else { return nil }
        let isRaw = self == .quickTime && codec.hasPrefix("pcm_")
        guard let sounds, !isRaw, !sounds.copied.contains(codec) else { return "copy" }
        return sounds.encoder
    }

    /// The codec for a stream: `copy`, or that to which it is converted; nil if the container does
    /// not support it.
    func codec(of stream: VideoStream) -> String? {
        switch stream.kind {
        case .sound: sound(stream.codec)
        case .attachment: self == .matroska ? "copy" : nil
        case .subtitles: subtitles(stream.codec)
        }
    }

    private func subtitles(_ codec: String) -> String? {
        let isText = Self.texts.contains(codec)
        switch self {
        case .matroska:
            if codec == "mov_text" { return "subrip" }
            let pictures = ["dvd_subtitle", "dvb_subtitle", "hdmv_pgs_subtitle"]
            return isText || pictures.contains(codec) ? "copy" : nil
        case .mp4, .quickTime:
            return isText ? "mov_text" : codec == "dvd_subtitle" ? "copy" : nil
        case .webm:
            return isText ? "webvtt" : nil
        case .transport:
            return ["dvb_subtitle", "hdmv_pgs_subtitle"].contains(codec) ? "copy" : nil
        case .pictures, .other:
            return nil
        }
    }
}

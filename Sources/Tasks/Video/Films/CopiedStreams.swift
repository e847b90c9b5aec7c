/// A stream of a film beside its pictures.
package struct FilmStream: Hashable, Sendable {
    enum Kind: String {
        case sound = "audio"
        case subtitles = "subtitle"
        case attachment
    }

    /// The number by which FFmpeg calls it.
    let index: Int
    let kind: Kind
    /// FFmpeg's name of its codec, such as `subrip`; empty if it knows none.
    let codec: String

    /// What people call it.
    package var name: String {
        ["", "unknown"].contains(codec) ? kind.rawValue : "\(kind.rawValue) (\(codec))"
    }
}

/// What of a film's sound, subtitles and attached files goes into a new film: all that the new
/// container can hold. Text becomes the container's own kind of subtitles.
struct CopiedStreams {
    private let streams: [(stream: FilmStream, codec: String)]
    /// What the container cannot hold.
    let omitted: [FilmStream]

    var isEmpty: Bool { streams.isEmpty }

    /// - Parameter path: of the new film; its extension states the container.
    init(_ streams: [FilmStream], in path: String) {
        let container = Container(path)
        var copied: [(stream: FilmStream, codec: String)] = []
        var omitted: [FilmStream] = []
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
        let subtitles = streams.filter { $0.stream.kind == .subtitles }
        let codecs = subtitles.enumerated().flatMap { ["-c:s:\($0)", $1.codec] }
        return maps + ["-c:a", "copy", "-c:t", "copy"] + codecs
    }
}

/// A family of containers that hold the same kinds of streams.
private enum Container {
    case matroska, mp4, webm, transport, other

    init(_ path: String) {
        self =
            switch path.split(separator: ".").last?.lowercased() {
            case "mkv", "mka": .matroska
            case "mp4", "m4v", "mov": .mp4
            case "webm": .webm
            case "ts", "m2ts", "mts": .transport
            default: .other
            }
    }

    private static let texts: Set = ["subrip", "ass", "ssa", "mov_text", "webvtt", "text"]

    /// What `ffmpeg` is to make of a stream: `copy`, or a kind of subtitles; nil if the container
    /// does not hold it.
    func codec(of stream: FilmStream) -> String? {
        switch stream.kind {
        case .sound: "copy"
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
        case .mp4:
            return isText ? "mov_text" : codec == "dvd_subtitle" ? "copy" : nil
        case .webm:
            return isText ? "webvtt" : nil
        case .transport:
            return ["dvb_subtitle", "hdmv_pgs_subtitle"].contains(codec) ? "copy" : nil
        case .other:
            return nil
        }
    }
}

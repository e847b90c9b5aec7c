import Glibc
import RetintFiles
import Subprocess
import Synchronization
import SystemPackage

/// How `ffmpeg` encodes a video.
public struct VideoWritingOptions: Sendable {
    /// FFmpeg's name of an encoder, such as `libx264`; nil for the container's default.
    public var encoder: String?
    /// Options of the encoder as `name=value`, such as `crf=18`.
    public var encoderOptions: [String] = []
    /// The video whose sound, subtitles, chapters, attachments and tags are copied; nil for none.
    public var source: String?
    /// The properties of that video.
    public var properties: VideoProperties?
    /// Which part of that video is read.
    public var reading = VideoReadingOptions()

    /// The container's default encoder, without sound.
    public init() {}

    /// The name and the value of an option of the encoder, `name=value`; nil if one is missing.
    public static func encoderOption(_ text: String) -> (name: String, value: String)? {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        return parts.count == 2 ? (parts[0], parts[1]) : nil
    }
}

extension VideoWritingOptions {
    /// The time base of the frames, if they have timestamps.
    var timeBase: TimeBase? {
        guard reading.keepsTimes, let properties else { return nil }
        return properties.timeBase ?? TimeBase(1, 90_000)
    }

    /// The source's streams for a new video.
    func copied(to path: String) -> CopiedStreams {
        CopiedStreams(source == nil ? [] : properties?.otherStreams ?? [], in: path)
    }

    /// The sound, subtitles and attached files of the source that the new container does not
    /// support.
    package func omitted(from path: String) -> [VideoStream] { copied(to: path).omitted }

    /// The arguments of `ffmpeg`, after the first input, for the pictures and everything copied.
    func sourceArguments(for path: String) -> [String] {
        guard let source else { return ["-map", "0:v:0"] }
        return reading.partArguments + ["-i", VideoProperties.argument(source), "-map", "0:v:0"]
            + copied(to: path).arguments(fromInput: 1) + [
                "-map_metadata", "1", "-map_chapters", "1",
                // Sound from before the start would delay the pictures.
                "-copypriorss", "0",
            ]
    }
}

/// Writes a video: a YUV4MPEG2 stream, or any other container with the help of `ffmpeg`.
///
/// - Parameters:
///   - path: the file to replace; `-` for a YUV4MPEG2 stream to standard output.
///   - header: the properties common to all frames.
///   - body: writes the frames; the video is complete when it returns.
/// - Throws: ``VideoError`` if `ffmpeg` is missing or cannot write the video, `FileError` if the
///   file cannot be written; the errors of `body`. The frames written before are kept.
package func withNewVideo<Value: Sendable>(
    _ path: String, _ header: Y4MHeader, _ options: VideoWritingOptions = .init(),
    _ body: (FrameWriter) async throws -> Value
) async throws -> Value {
    if Y4MHeader.isStream(named: path) {
        return try await writingStream(path, header, body)
    }
    let timeBase = options.timeBase
    let destination = try VideoDestination(path)
    let frames = Atomic<Int>(0)
    do {
        let value = try await encoding(
            destination, try arguments(destination, header.format, options)
        ) { output in
            let writer =
                if let timeBase {
                    FrameWriter(header, try NUTSink(header, timeBase, output))
                } else { try FrameWriter(header, output) }
            defer { frames.store(writer.frameCount, ordering: .relaxed) }
            return try await body(writer)
        }
        try destination.publish()
        return value
    } catch {
        let isOfOutput = [.unwritable, .outputName].contains((error as? VideoError)?.kind)
        let count = frames.load(ordering: .relaxed)
        if isOfOutput || count == 0 || !destination.hasContent {
            destination.discard()
        } else {
            if let rate = header.frameRate, !options.copied(to: path).isEmpty {
                let (written, seconds) = (destination.written, Double(count) / rate.value)
                // The task may be cancelled.
                await Task { await shorten(written, to: seconds, for: path) }.value
            }
            try destination.publish()
        }
        throw error
    }
}

/// Ends the copied sound and subtitles of a video that was not finished with its pictures. If that
/// fails, they stay longer.
private func shorten(_ written: String, to seconds: Double, for path: String) async {
    do {
        let shorter = try PendingFile(for: written, keepingExtension: true)
        let streams = ["0:v", "0:a?", "0:s?", "0:t?"].flatMap { ["-map", $0] }
        try await MediaProgram.ffmpeg.output(
            of: ["-nostdin", "-v", "error", "-y", "-i", VideoProperties.argument(written)]
                + streams + ["-c", "copy", "-t", "\(seconds)"]
                + [VideoProperties.argument(shorter.path.string)],
            for: path, failure: .unwritable)
        try shorter.publish()
    } catch {}
}

/// Writes a YUV4MPEG2 stream. A new file without frames is not a video, and is removed.
private func writingStream<Value: Sendable>(
    _ path: String, _ header: Y4MHeader, _ body: (FrameWriter) async throws -> Value
) async throws -> Value {
    let isNew = try path != "-" && FileKind(at: path) == .nothing
    let output = path == "-" ? ByteOutput() : try ByteOutput(path)
    let writer = try FrameWriter(header, output)
    do {
        let value = try await body(writer)
        try output.close()
        return value
    } catch {
        if isNew, writer.frameCount == 0 { unlink(path) }
        throw error
    }
}

/// Runs `ffmpeg`, which reads the frames from a pipe.
private func encoding<Value: Sendable>(
    _ destination: VideoDestination, _ arguments: [String],
    _ body: (ByteOutput) async throws -> Value
) async throws -> Value {
    let path = destination.path
    let pipe = try FileDescriptor.pipe()
    var isRunning = false
    defer { if !isRunning { try? pipe.writeEnd.close() } }
    let ended = try await MediaProgram.ffmpeg.found(for: path) {
        try await run(
            .name(MediaProgram.ffmpeg.rawValue), arguments: Arguments(arguments),
            platformOptions: MediaProgram.pipeOptions,
            input: .fileDescriptor(pipe.readEnd, closeAfterSpawningProcess: true),
            output: .discarded, error: .string(limit: MediaProgram.maximumMessages)
        ) { process -> Result<Value, any Error> in
            isRunning = true
            let output = ByteOutput(descriptor: pipe.writeEnd.rawValue, name: path)
            // Whatever happened, ffmpeg finishes the video with the frames that it got.
            defer { try? output.close() }
            do {
                return .success(try await body(output))
            } catch {
                try? output.close()
                // It now copies the sound of the whole source, which may take long. The task may
                // be cancelled.
                await Task { await process.waitForEnd() }.value
                try? process.send(signal: .interrupt)
                return .failure(error)
            }
        }
    }
    let messages = ended.standardError.replacing(destination.written, with: path)
    switch ended.closureResult {
    case .success(let value):
        guard ended.terminationStatus.isSuccess, !MediaProgram.failedToWrite(messages) else {
            throw MediaProgram.error(.unwritable, file: path, messages)
        }
        return value
    case .failure(is FileError) where !messages.isEmpty:
        // The pipe ended early because ffmpeg failed.
        throw MediaProgram.error(.unwritable, file: path, messages)
    case .failure(let error):
        throw error
    }
}

extension Execution {
    /// Waits until a process has ended; but not longer than 20 seconds.
    fileprivate func waitForEnd() async {
        for _ in 0..<400 where !hasEnded { try? await Task.sleep(for: .milliseconds(50)) }
    }

    /// Whether the process has ended. Its status stays to be read.
    private var hasEnded: Bool {
        var state = siginfo_t()
        let options = WEXITED | WNOHANG | WNOWAIT
        let result = waitid(P_PID, id_t(processIdentifier.value), &state, options)
        return result != 0 || state.si_signo != 0
    }
}

extension VideoWritingOptions {
    /// The arguments of `ffmpeg` for its first input, the frames.
    fileprivate func frameArguments(_ format: FrameFormat) -> [String] {
        guard timeBase != nil, let properties else {
            return ["-f", "yuv4mpegpipe", "-i", "pipe:0"]
        }
        // Timestamps start at the first frame, unless an offset is set.
        let delay = reading.isWhole ? properties.delay : 0
        return [
            "-color_range", format.range.ffmpegName, "-itsoffset", "\(delay)", "-f", "nut", "-i",
            "pipe:0",
        ]
    }

    /// Each frame is encoded once, at its timestamp. Some encoders support no finer unit than
    /// 1/65535 s.
    fileprivate var timeArguments: [String] {
        timeBase.map { base in
            let isFine = base.denominator > 65_535
            let unit = isFine ? "1:60000" : "\(base.numerator):\(base.denominator)"
            return ["-fps_mode", "vfr", "-enc_time_base", unit]
        } ?? []
    }
}

private func arguments(
    _ destination: VideoDestination, _ format: FrameFormat, _ options: VideoWritingOptions
) throws(VideoError) -> [String] {
    let path = destination.path
    var arguments = ["-nostdin", "-v", "error", "-y"] + options.frameArguments(format)
    arguments += options.sourceArguments(for: path)
    arguments += options.timeArguments
    if let encoder = options.encoder { arguments += ["-c:v", encoder] }
    for option in options.encoderOptions {
        guard let (name, value) = VideoWritingOptions.encoderOption(option) else {
            throw VideoError(
                .unwritable, file: path, place: "encoder option \(option)",
                "it is not name=value; write for example crf=18")
        }
        arguments += ["-\(name)", value]
    }
    arguments += ["-color_range", format.range.ffmpegName]
    for (option, value) in colorTags(format, options.properties).sorted(by: { $0.key < $1.key }) {
        arguments += [option, value]
    }
    return arguments + [VideoProperties.argument(destination.written)]
}

/// The video's own tags; its matrix must be the one that the colors were written with.
private func colorTags(_ format: FrameFormat, _ video: VideoProperties?) -> [String: String] {
    let own = video?.colorTags ?? [:]
    let written = ["-colorspace": format.matrix.name]
    return own.merging(written) { own, written in video?.matrix == format.matrix ? own : written }
}

extension FrameFormat.SampleRange {
    fileprivate var ffmpegName: String { self == .full ? "pc" : "tv" }
}

extension FrameFormat.ColorMatrix {
    /// FFmpeg's name.
    fileprivate var name: String {
        switch self {
        case .bt601: "smpte170m"
        case .bt709: "bt709"
        case .bt2020: "bt2020nc"
        }
    }
}

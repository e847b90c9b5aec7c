import RetintFiles
import Subprocess
import SystemPackage

/// How to read a video if it does not state this itself.
public struct VideoReadingOptions: Sendable {
    /// Overrides the range; nil keeps the video's own range, or assumes limited.
    public var range: FrameFormat.SampleRange?
    /// Overrides the matrix; nil keeps the video's own matrix, or assumes that of its height.
    /// none.
    public var matrix: FrameFormat.ColorMatrix?
    /// Seconds to skip at the start.
    public var start: Double?
    /// Seconds after which reading ends.
    public var duration: Double?
    /// Whether each frame of a container is read once, with its timestamp. Otherwise some may be
    /// repeated or dropped, so that the rate is constant.
    public var keepsTimes = false

    /// The entire video, with its own properties.
    public init() {}

    /// Whether the video is read from its start to its end.
    package var isWhole: Bool { start == nil && duration == nil }

    /// The arguments of `ffmpeg` before the video's name.
    var partArguments: [String] {
        (start.map { ["-ss", "\($0)"] } ?? []) + (duration.map { ["-t", "\($0)"] } ?? [])
    }
}

/// A video that is being read.
package struct OpenVideo {
    /// The frames.
    package let reader: FrameReader
    /// What the container states; nil for a YUV4MPEG2 stream, which has no container.
    package let properties: VideoProperties?
}

extension Y4MHeader {
    /// Whether a video is a YUV4MPEG2 stream: a name that ends in `.y4m`, or `-` for standard input
    /// or output.
    public static func isStream(named path: String) -> Bool {
        path == "-" || path.hasSuffix(".y4m")
    }
}

/// Reads a video: a YUV4MPEG2 stream, or any other container with the help of `ffmpeg`.
///
/// - Parameters:
///   - path: the file; `-` for a YUV4MPEG2 stream from standard input.
///   - body: reads the frames, or some of them; the video is closed when it returns.
/// - Throws: ``VideoError`` if `ffmpeg` is missing, or the file is not a video; ``FrameError`` for
///   a damaged stream; the errors of `body`.
package func withVideo<Value: Sendable>(
    _ path: String, _ options: VideoReadingOptions = .init(),
    _ body: (OpenVideo) async throws -> Value
) async throws -> Value {
    if Y4MHeader.isStream(named: path) {
        return try await withStream(path, options, body)
    }
    _ = try isDirectory(path)
    let properties = try await VideoProperties(of: path)
    try properties.check(options, of: path)
    return try await decoding(path, properties, options) { input in
        let reader =
            options.keepsTimes
            ? try timedFrames(input, properties, options)
            : try FrameReader(
                input, range: properties.isRGB ? nil : options.range ?? properties.range,
                matrix: options.matrix ?? properties.matrix)
        let value = try await body(OpenVideo(reader: reader, properties: properties))
        return (value, reader.hasEnded)
    }
}

/// Reads a YUV4MPEG2 stream. A cancelled task does not wait for a pipe that is silent.
private func withStream<Value: Sendable>(
    _ path: String, _ options: VideoReadingOptions, _ body: (OpenVideo) async throws -> Value
) async throws -> Value {
    let stop = ReadingStop()
    return try await withTaskCancellationHandler {
        do {
            let input = path == "-" ? ByteInput(until: stop) : try ByteInput(path, until: stop)
            let reader = try FrameReader(input, range: options.range, matrix: options.matrix)
            let value = try await body(OpenVideo(reader: reader, properties: nil))
            try Task.checkCancellation()
            return value
        } catch is FrameError where stop.isRequested {
            // The stream seems to end where the task stopped waiting for it.
            throw CancellationError()
        }
    } onCancel: {
        stop.request()
    }
}

private func timedFrames(
    _ input: sending ByteInput, _ video: VideoProperties, _ options: VideoReadingOptions
) throws -> FrameReader {
    let layout = video.readLayout
    // RGB was converted to limited range, unless another one was requested.
    let own = video.isRGB ? nil : video.range
    let frames = try NUTFrames(
        input, chroma: layout.chroma, bitDepth: layout.bitDepth,
        range: options.range ?? own ?? .limited, statesRange: video.isRGB || video.range != nil,
        matrix: options.matrix ?? video.matrix, rate: video.rate)
    return FrameReader(frames.header, frames)
}

/// Runs `ffmpeg`, which writes the video's frames to a pipe.
///
/// - Parameter body: reads the pipe, and returns whether it read everything. If not, ffmpeg fails
///   to write the rest, which is not an error of the video.
private func decoding<Value: Sendable>(
    _ path: String, _ properties: VideoProperties, _ options: VideoReadingOptions,
    _ body: (sending ByteInput) async throws -> (value: Value, hasEnded: Bool)
) async throws -> Value {
    let pipe = try FileDescriptor.pipe()
    var isRunning = false
    defer { if !isRunning { try? pipe.readEnd.close() } }
    let ended = try await MediaProgram.ffmpeg.found(for: path) {
        try await run(
            .name(MediaProgram.ffmpeg.rawValue),
            arguments: Arguments(arguments(path, properties, options)),
            platformOptions: MediaProgram.pipeOptions, input: .none,
            output: .fileDescriptor(pipe.writeEnd, closeAfterSpawningProcess: true),
            error: .string(limit: MediaProgram.maximumMessages)
        ) { _ -> Result<(value: Value, hasEnded: Bool), any Error> in
            isRunning = true
            // The pipe is closed when `body` has released it; then ffmpeg ends.
            let input = ByteInput(descriptor: pipe.readEnd.rawValue, name: path)
            do { return .success(try await body(input)) } catch { return .failure(error) }
        }
    }
    let messages = MediaProgram.withoutHarmless(ended.standardError)
    switch ended.closureResult {
    case .success(let (value, hasEnded))
    where !hasEnded || (ended.terminationStatus.isSuccess && messages.isEmpty):
        return value
    case .success:
        throw VideoError(
            .damaged,
            file: path, "\(MediaProgram.reason(messages)); the readable frames were used")
    case .failure(let error as FrameError)
    where [.damaged, .truncated].contains(error.kind) && !messages.isEmpty:
        // The pipe ended early because ffmpeg failed.
        throw VideoError(
            .unreadable, file: path, "\(MediaProgram.reason(messages)) (\(error.kind))")
    case .failure(let error):
        throw error
    }
}

private func arguments(
    _ path: String, _ properties: VideoProperties, _ options: VideoReadingOptions
) -> [String] {
    let form =
        options.keepsTimes
        ? ["-fps_mode", "vfr", "-enc_time_base", "-1", "-c:v", "rawvideo", "-f", "nut"]
        : ["-f", "yuv4mpegpipe", "-strict", "-1"]
    return ["-nostdin", "-v", "error"] + options.partArguments + [
        "-i", VideoProperties.argument(path), "-map", "0:v:0",
    ] + conversion(properties, options) + form + [
        "-pix_fmt", properties.readFormatName, "pipe:1",
    ]
}

/// RGB becomes Y'CbCr with the matrix and the range that it is read with.
private func conversion(_ video: VideoProperties, _ options: VideoReadingOptions) -> [String] {
    guard video.isRGB else { return [] }
    let matrix = options.matrix ?? FrameFormat.ColorMatrix(height: video.height ?? 0)
    let range = options.range ?? .limited
    return ["-vf", "scale=out_color_matrix=\(matrix.rawValue):out_range=\(range.rawValue)"]
}

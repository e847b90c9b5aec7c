import Files
public import Frames
import Subprocess
import SystemPackage

/// What to do where a film does not state how it is to be read.
public struct FilmReadingOptions: Sendable {
    /// The range, whatever the film states; its own if nil, and limited where it states none.
    public var range: SampleRange?
    /// The matrix, whatever the film states; its own if nil, and that of its height where it states
    /// none.
    public var matrix: ColorMatrix?
    /// Seconds that are skipped at the start.
    public var start: Double?
    /// Seconds after which reading ends.
    public var duration: Double?
    /// Whether the frames of a container come once each, with their times. Otherwise some may be
    /// repeated or left out, so that the rate is constant.
    public var keepsTimes = false

    /// The film as it is, from its start to its end.
    public init() {}

    /// Whether the film is read from its start to its end.
    package var isWhole: Bool { start == nil && duration == nil }

    /// The arguments of `ffmpeg` before the film's name.
    var partArguments: [String] {
        (start.map { ["-ss", "\($0)"] } ?? []) + (duration.map { ["-t", "\($0)"] } ?? [])
    }
}

/// A film that is being read.
public struct OpenFilm {
    /// The frames.
    public let reader: FrameReader
    /// What the container states; nil for a YUV4MPEG2 stream, which has none.
    public let properties: FilmProperties?
}

/// Whether a film is a YUV4MPEG2 stream: a name that ends in `.y4m`, or `-` for standard input or
/// output.
package func isY4MStream(_ path: String) -> Bool { path == "-" || path.hasSuffix(".y4m") }

/// Reads a film: a YUV4MPEG2 stream, or any other container with the help of `ffmpeg`.
///
/// - Parameters:
///   - path: the file; `-` for a YUV4MPEG2 stream from standard input.
///   - body: reads the frames, or some of them; the film is closed when it returns.
/// - Throws: ``FilmError`` if `ffmpeg` is missing, or the file is no film; ``FrameError`` for a
///   damaged stream; what `body` throws.
public func withFilm<Value: Sendable>(
    _ path: String, _ options: FilmReadingOptions = .init(),
    _ body: (OpenFilm) async throws -> Value
) async throws -> Value {
    if isY4MStream(path) {
        let input = path == "-" ? ByteInput() : try ByteInput(path)
        let reader = try FrameReader(input, range: options.range, matrix: options.matrix)
        return try await body(OpenFilm(reader: reader, properties: nil))
    }
    _ = try isDirectory(path)
    let properties = try await FilmProperties(of: path)
    return try await decoding(path, properties, options) { input in
        let reader =
            options.keepsTimes
            ? try timedFrames(input, properties, options)
            : try FrameReader(
                input, range: properties.isRGB ? nil : options.range ?? properties.range,
                matrix: options.matrix ?? properties.matrix)
        let value = try await body(OpenFilm(reader: reader, properties: properties))
        return (value, reader.hasEnded)
    }
}

private func timedFrames(
    _ input: sending ByteInput, _ film: FilmProperties, _ options: FilmReadingOptions
) throws -> FrameReader {
    let layout = film.readLayout
    // Red, green and blue were converted to limited range, unless another was asked for.
    let own = film.isRGB ? nil : film.range
    let frames = try NUTFrames(
        input, chroma: layout.chroma, bitDepth: layout.bitDepth,
        range: options.range ?? own ?? .limited, statesRange: film.isRGB || film.range != nil,
        matrix: options.matrix ?? film.matrix, rate: film.rate)
    return FrameReader(frames.header, frames)
}

/// Runs `ffmpeg`, which writes the film's frames to a pipe.
///
/// - Parameter body: reads the pipe, and says whether it read all of it. If not, ffmpeg fails to
///   write the rest, which is no fault of the film.
private func decoding<Value: Sendable>(
    _ path: String, _ properties: FilmProperties, _ options: FilmReadingOptions,
    _ body: (sending ByteInput) async throws -> (value: Value, hasEnded: Bool)
) async throws -> Value {
    let pipe = try FileDescriptor.pipe()
    var isRunning = false
    defer { if !isRunning { try? pipe.readEnd.close() } }
    let ended = try await MediaProgram.ffmpeg.found {
        try await run(
            .name(MediaProgram.ffmpeg.rawValue),
            arguments: Arguments(arguments(path, properties, options)),
            platformOptions: MediaProgram.pipeOptions, input: .none,
            output: .fileDescriptor(pipe.writeEnd, closeAfterSpawningProcess: true),
            error: .string(limit: MediaProgram.maximumMessages)
        ) { _ -> Result<(value: Value, hasEnded: Bool), any Error> in
            isRunning = true
            // The pipe is closed when `body` has let go of it; ffmpeg then ends.
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
        throw FilmError(
            .damaged,
            file: path, "\(MediaProgram.reason(messages)); what could be read of it was used")
    case .failure(let error as FrameError)
    where [.damaged, .truncated].contains(error.kind) && !messages.isEmpty:
        // The pipe broke off because ffmpeg failed.
        throw FilmError(.unreadable, file: path, "\(MediaProgram.reason(messages)) (\(error.kind))")
    case .failure(let error):
        throw error
    }
}

private func arguments(
    _ path: String, _ properties: FilmProperties, _ options: FilmReadingOptions
) -> [String] {
    let form =
        options.keepsTimes
        ? ["-fps_mode", "vfr", "-enc_time_base", "-1", "-c:v", "rawvideo", "-f", "nut"]
        : ["-f", "yuv4mpegpipe", "-strict", "-1"]
    return ["-nostdin", "-v", "error"] + options.partArguments + [
        "-i", FilmProperties.argument(path), "-map", "0:v:0",
    ] + conversion(properties, options) + form + [
        "-pix_fmt", properties.readFormatName, "pipe:1",
    ]
}

/// Red, green and blue become Y'CbCr of the matrix and the range that they are read with.
private func conversion(_ film: FilmProperties, _ options: FilmReadingOptions) -> [String] {
    guard film.isRGB else { return [] }
    let matrix = options.matrix ?? ColorMatrix(height: film.height ?? 0)
    let range = options.range ?? .limited
    return ["-vf", "scale=out_color_matrix=\(matrix.rawValue):out_range=\(range.rawValue)"]
}

import Engine
import Films
import Frames
import ImageIO
import Models

/// The film, and the colorizer for its frames, before the first one is colored.
public struct FilmColoring: Sendable {
    /// How the film's frames are stored, and which colors they stand for.
    public let format: FrameFormat
    /// The number of frames, or an estimate of it; nil if unknown.
    public let frameCount: Int?
    /// What the film did not state, and what was taken instead; empty if it stated all.
    public let assumptions: [String]
    /// The height and width, in pixels, at which the network sees a frame.
    public let networkSize: (height: Int, width: Int)
}

/// How a film is colored.
public struct FilmColoringOptions: Sendable {
    /// What to do where the film does not state how it is to be read.
    public var reading = FilmReadingOptions()
    /// FFmpeg's name of an encoder, such as `libx264`; the container's own if nil.
    public var encoder: String?
    /// Options of the encoder as `name=value`, such as `crf=18`.
    public var encoderOptions: [String] = []
    /// The side, in pixels, of the square at which the network sees a frame; nil for a package's
    /// own size and 256 for a checkpoint.
    public var size: Int?
    /// The number of frames that are colored at the same time; nil for all processors.
    public var threads: Int?
    /// Whether frames keep the colors of those before them, as far as they show the same things.
    public var stableColors = true
    /// Frames of the film in the colors that it is to have; see ``FrameColorizer``.
    public var anchors: [Image] = []
    /// The fastest algorithms measured on this machine.
    public var choices = KernelChoices()

    /// The defaults.
    public init() {}
}

/// Colors a film. Y' of every frame stays as it is, up to what the encoder does.
///
/// A YUV4MPEG2 stream, whose name ends in `.y4m` or is `-` for standard input and output, is read
/// and written as it is. Other containers need the programs of FFmpeg; their sound, subtitles,
/// chapters and tags are copied.
///
/// - Parameters:
///   - model: a checkpoint or a package.
///   - input: the film.
///   - output: the colored film, which is replaced.
///   - options: how it is read, colored and encoded.
///   - onStart: called before the first frame.
///   - onFrame: called with the number of frames written so far.
/// - Returns: the number of frames, and the indices of the anchors that none of them looks like.
/// - Throws: `FilmError` and `FrameError` for a film that cannot be read or is damaged, and
///   `FileError` for one that cannot be written, with what was colored until then kept;
///   `ModelError` if the model is no colorizer or does not run at that size; `CancellationError` if
///   the task is cancelled, with a film that can be played.
@discardableResult
public func colorizeFilm(
    _ model: Model, from input: String, to output: String, _ options: FilmColoringOptions = .init(),
    onStart: (FilmColoring) -> Void = { _ in }, onFrame: (Int) -> Void = { _ in }
) async throws -> (frames: Int, unseenAnchors: [Int]) {
    try await withFilm(input, options.reading) { film in
        let header = film.reader.header
        let colorizer = try FrameColorizer(
            model, header.format, size: options.size, threads: options.threads,
            stableColors: options.stableColors, anchors: options.anchors,
            choices: options.choices)
        onStart(
            FilmColoring(
                format: header.format,
                frameCount: options.reading.isWhole ? film.properties?.frameCount : nil,
                assumptions: film.assumptions(options.reading),
                networkSize: colorizer.networkSize))
        var count = 0
        try await withNewFilm(
            output, header.colored, options.writing(film, input)
        ) { writer in
            for try await frame in colorizer.colorized(film.reader.frames) {
                try writer.write(frame)
                count += 1
                onFrame(count)
            }
        }
        return (count, colorizer.unseenAnchors)
    }
}

extension FilmColoringOptions {
    fileprivate func writing(_ film: OpenFilm, _ input: String) -> FilmWritingOptions {
        var writing = FilmWritingOptions()
        (writing.encoder, writing.encoderOptions) = (encoder, encoderOptions)
        writing.reading = reading
        guard let properties = film.properties else { return writing }
        (writing.source, writing.properties) = (input, properties)
        return writing
    }
}

extension OpenFilm {
    /// What neither the film nor the caller states.
    fileprivate func assumptions(_ options: FilmReadingOptions) -> [String] {
        let format = reader.header.format
        var assumptions: [String] = []
        if options.matrix == nil, properties?.matrix == nil {
            assumptions.append(
                "the film states no matrix: taken as \(format.matrix.rawValue), as films of "
                    + "\(format.height) rows are")
        }
        if options.range == nil, properties?.range == nil, !reader.header.statesRange {
            assumptions.append("the film states no range: taken as \(format.range.rawValue)")
        }
        if let properties, properties.isConverted {
            assumptions.append(
                "the film is \(properties.pixelFormat): its frames are converted to "
                    + properties.readFormatName)
        }
        return assumptions
    }
}

import RetintEngine
import RetintFiles
import RetintImages
import RetintRuntime

/// The video, and the colorizer for its frames, before the first one is colored.
public struct VideoColoring: Sendable {
    /// How the video's frames are stored, and which colors they represent.
    public let format: FrameFormat
    /// The number of frames, or an estimate of it; nil if unknown.
    public let frameCount: Int?
    /// What the video did not state, and what was assumed instead; empty if it stated everything.
    public let assumptions: [String]
    /// The streams that the output container does not support, such as `subtitle
    /// (hdmv_pgs_subtitle)`.
    public let omitted: [String]
    /// The number of frames that an earlier run has colored.
    public let finishedFrames: Int
    /// The height and width of the network's input in pixels.
    public let networkSize: (height: Int, width: Int)
}

/// A video that was colored.
public struct ColoredVideo: Sendable {
    /// The number of frames.
    public internal(set) var frames = 0
    /// The number of late frames of a live source that were dropped.
    public internal(set) var droppedFrames = 0
    /// The indices of the anchors that match no frame.
    public internal(set) var unseenAnchors: [Int] = []
    /// The seconds from reading the first frame to writing the last one.
    public internal(set) var seconds = 0.0
    /// The time of each stage, on all threads.
    public internal(set) var stages = ColoredVideo.StageTimes()
}

extension Model {
    /// Colors a video. Y' of every frame stays as it is, except for changes by the encoder.
    ///
    /// A YUV4MPEG2 stream, whose name ends in `.y4m` or is `-` for standard input and output, is
    /// read and written directly. Other containers need the programs of FFmpeg; their sound,
    /// subtitles, chapters and tags are copied.
    ///
    /// - Parameters:
    ///   - input: the video.
    ///   - output: the colored video, which replaces any existing file.
    ///   - options: how it is read, colored and encoded.
    ///   - onStart: called before the first frame.
    ///   - onFrame: called with the number of frames written so far.
    /// - Throws: `VideoError` and `FrameError` for a video that cannot be read or is damaged, and
    ///   `FileError` for one that cannot be written, keeping the frames colored so far;
    ///   `ModelError` if the model is not a colorizer or does not run at that size; `PhotoError` or
    ///   `ImageError` if masks do not fit the video, keeping the frames colored so far;
    ///   `CancellationError` if the task is cancelled, leaving a video that can be played.
    @discardableResult
    public func colorizeVideo(
        from input: String, to output: String, _ options: VideoColoringOptions = .init(),
        onStart: (VideoColoring) -> Void = { _ in }, onFrame: (Int) -> Void = { _ in }
    ) async throws -> ColoredVideo {
        let video = try await withVideo(input, options.reading(for: output)) { video in
            let header = video.reader.header
            let colorizer = try FrameColorizer(
                self, header.format, options.frames, of: input == "-" ? "standard input" : input)
            if options.isLive { try colorizer.masks.checkLive() }
            let writing = options.writing(video, input, output)
            let parts = try await options.parts(of: output, self, input, writing)
            onStart(
                VideoColoring(
                    format: header.format,
                    frameCount: options.reading.isWhole ? video.properties?.frameCount : nil,
                    assumptions: video.assumptions(options.reading),
                    omitted: writing.omitted(from: output).map(\.name),
                    finishedFrames: parts?.finishedFrames ?? 0, networkSize: colorizer.networkSize))
            let start = ContinuousClock.now
            var colored: ColoredVideo
            if let parts {
                colored = try await colorizer.write(video.reader, parts, writing, onFrame)
            } else {
                colored = try await withNewVideo(output, header.colored, writing) { writer in
                    let colored = try await colorizer.write(
                        video.reader, writer, isLive: options.isLive, onFrame)
                    try options.checkBegins(colored, input)
                    return colored
                }
            }
            colored.seconds = (ContinuousClock.now - start) / .seconds(1)
            colored.stages = colorizer.clock.times
            try colorizer.masks.checkEnd(afterFrames: colored.frames)
            return colored
        }
        // A video that could not be read to its end may be readable next time.
        if options.resumes { VideoParts.remove(of: output) }
        return video
    }
}

extension VideoColoringOptions {
    /// - Throws: `VideoError` if the part that was to be colored has no frames.
    fileprivate func checkBegins(_ colored: ColoredVideo, _ input: String) throws(VideoError) {
        guard let start = reading.start, colored.frames == 0 else { return }
        throw VideoError(.unreadable, file: input, "has no frame at \(start) s or later")
    }

    /// Frames keep their timestamps, except in a stream or a container of constant rate, or if
    /// segments are joined.
    fileprivate func reading(for output: String) -> VideoReadingOptions {
        var result = reading
        let isOfConstantRate =
            Y4MHeader.isStream(named: output)
            || Self.containersOfConstantRate.contains(output.filePath.extension?.lowercased() ?? "")
        result.keepsTimes = !resumes && !isOfConstantRate
        return result
    }

    /// Those without timestamps, and those whose usual encoder, of MPEG-2, takes few rates.
    private static let containersOfConstantRate: Set = [
        "avi", "m2ts", "mpeg", "mpg", "mts", "ts", "vob",
    ]

    fileprivate func writing(
        _ video: OpenVideo, _ input: String, _ output: String
    ) -> VideoWritingOptions {
        var writing = VideoWritingOptions()
        (writing.encoder, writing.encoderOptions) = (encoder, encoderOptions)
        writing.reading = reading(for: output)
        guard let properties = video.properties else { return writing }
        (writing.source, writing.properties) = (input, properties)
        return writing
    }
}

extension VideoColoringOptions {
    /// The segments of the video if it is written in segments; otherwise nil.
    fileprivate func parts(
        of output: String, _ model: Model, _ input: String, _ writing: VideoWritingOptions
    ) async throws -> VideoParts? {
        guard resumes else { return nil }
        let parts = try VideoParts(of: output, description: description(of: model, input))
        try await parts.check(writing)
        return parts
    }

    /// Everything that the frames of a colored video depend on.
    fileprivate func description(of model: Model, _ input: String) throws -> [String: String] {
        let file = try RegularFile(input)
        var colors = ContentHash()
        for anchor in frames.anchors { colors.update(anchor.pixels) }
        return [
            "input": "\(input), \(file.version)", "model": try model.fingerprint(),
            "range": reading.range?.rawValue ?? "", "matrix": reading.matrix?.rawValue ?? "",
            "start": reading.start.map { "\($0)" } ?? "",
            "duration": reading.duration.map { "\($0)" } ?? "", "encoder": encoder ?? "",
            "encoder options": encoderOptions.joined(separator: " "),
            "size": frames.size.map { "\($0)" } ?? "", "stable colors": "\(frames.stableColors)",
            "anchors": colors.digest.hexadecimal, "masks": frames.masks?.description ?? "",
            "blend": "\(frames.blend)", "saturation": "\(frames.saturation)",
            "quadrilateral": frames.quadrilateral?.description ?? "",
            "arithmetic": model.execution.arithmetic.rawValue,
        ]
    }
}

extension OpenVideo {
    /// The properties that neither the video nor the caller states.
    fileprivate func assumptions(_ options: VideoReadingOptions) -> [String] {
        let format = reader.header.format
        var assumptions: [String] = []
        if options.matrix == nil, properties?.matrix == nil {
            assumptions.append(
                "the video states no matrix: assuming \(format.matrix.rawValue), as for "
                    + "\(format.height) rows")
        }
        if options.range == nil, properties?.range == nil, !reader.header.statesRange {
            assumptions.append("the video states no range: assuming \(format.range.rawValue)")
        }
        if let properties, properties.isConverted {
            assumptions.append(
                "the video is \(properties.pixelFormat): its frames are converted to "
                    + properties.readFormatName)
        }
        return assumptions
    }
}

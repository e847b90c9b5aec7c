import ArgumentParser
import Foundation
import Retint
import Synchronization

struct VideoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "video",
        abstract: "Colorize a video.",
        discussion: """
            Only the color planes change: the luma (Y') of each frame stays as it is. \
            YUV4MPEG2 (.y4m, or - for standard input and output) is read and written directly. \
            Other containers need the programs ffmpeg and ffprobe; sound, subtitles, chapters and \
            tags are copied. Ctrl-C ends the video early, so that it can be played, and exits \
            with 130. If the input is damaged, the readable frames are colored, and the exit code \
            is 1.

            For example:
              retint video lite-class-unet film.mp4 -o colored.mp4
            """)

    @Argument(
        help: "A checkpoint or a package; left out: \(ShippedCheckpoint.standard).",
        completion: .model, transform: modelPath)
    var model: String

    @Argument(
        help: ArgumentHelp(
            "The video; - for YUV4MPEG2 from standard input.", valueName: "input"),
        completion: .video)
    var film: String?

    /// The only argument is the video.
    private var input: String { film ?? model }

    @Option(
        name: .shortAndLong,
        help:
            "The video to write; its extension is the container. - for YUV4MPEG2 to stdout.",
        completion: .video)
    var output: String

    @Option(help: "The side of the network's square input, in pixels.")
    var size: Int?

    @Option(help: .rare("The video's range, if it is missing or wrong."))
    var range: FrameFormat.SampleRange?

    @Option(
        help: .rare(
            """
            The video's matrix, if it is missing or wrong; a missing one is assumed to be bt709 \
            with 720 rows or more, and bt601 otherwise.
            """))
    var matrix: FrameFormat.ColorMatrix?

    @Option(
        help: ArgumentHelp(
            "The time to skip at the start, in seconds or as [hh:]mm:ss.", valueName: "time"),
        transform: seconds)
    var start: Double?

    @Option(
        help: ArgumentHelp(
            "The time to color, in seconds or as [hh:]mm:ss.", valueName: "time"),
        transform: seconds)
    var duration: Double?

    @Option(help: "An FFmpeg encoder, such as libx264; default: that of the container.")
    var encoder: String?

    @Option(
        name: .customLong("encoder-option"),
        help: .rare(
            "An option of the encoder, such as crf=18; may be repeated.", valueName: "name=value"))
    var encoderOptions: [String] = []

    @Flag(
        inversion: .prefixedNo,
        help: """
            Keep the colors of the previous frames where they show the same things; without it, \
            each frame is colored independently, and colors flicker.
            """)
    var stableColors = true

    @Option(
        name: .customLong("anchor"),
        help: ArgumentHelp(
            """
            A frame of the video in the desired colors, as an image; may be repeated. \
            Frames that look like it get its colors, and later frames keep them until the \
            scene ends.
            """, valueName: "image"), completion: .photo)
    var anchors: [String] = []

    @Flag(
        help: """
            Drop the frames that arrive while a frame is being colored, except the newest, so that \
            a camera's picture does not lag behind.
            """)
    var live = false

    @Flag(
        help: """
            Write the video in segments, in OUTPUT.parts, and continue after the segments that an \
            interrupted run with the same options left there.
            """)
    var resume = false

    @OptionGroup var place: MaskOptions

    @OptionGroup var picture: PictureOptions

    @Option(help: "The number of frames to color at the same time; default: all processors.")
    var threads: Int?

    @OptionGroup var saturation: SaturationOptions

    @OptionGroup var style: StyleOptions

    @OptionGroup var execution: ExecutionOptions

    @OptionGroup var helpOptions: HelpOptions

    func validate() throws {
        for (value, name) in [(start, "--start"), (duration, "--duration")] {
            guard let value, !(value.isFinite && value >= 0) else { continue }
            throw ValidationError("\(name) \(value): must be seconds, 0 or more")
        }
        if let film { try checkModelComesFirst([model, film], "video") }
        guard film != nil || ShippedCheckpoint.all.allSatisfy({ $0.path != model }) else {
            throw ValidationError("\(model) is a colorizer; name the video, too")
        }
        guard duration != 0 else {
            throw ValidationError("--duration 0: must be above 0; leave it out for the whole video")
        }
        guard !Y4MHeader.isStream(named: input) || (start == nil && duration == nil) else {
            throw ValidationError(
                "--start and --duration need ffmpeg, which does not read \(input): cut the "
                    + "stream before coloring it")
        }
        guard !Y4MHeader.isStream(named: output) || (encoder == nil && encoderOptions.isEmpty)
        else {
            throw ValidationError("\(output) is YUV4MPEG2, which has no encoder")
        }
        guard !resume || (!Y4MHeader.isStream(named: output) && !live) else {
            throw ValidationError(
                "--resume needs a video in a container, such as .mp4 or .mkv, and no --live")
        }
        guard !resume || input != "-" else {
            throw ValidationError("--resume needs a video that can be read again, not -")
        }
        guard picture.quad.isEmpty || anchors.isEmpty else {
            throw ValidationError("--anchor shows whole frames, and has no effect with --quad")
        }
        guard stableColors || anchors.isEmpty else {
            throw ValidationError("--anchor has no effect with --no-stable-colors")
        }
        for option in encoderOptions where VideoWritingOptions.encoderOption(option) == nil {
            throw ValidationError("--encoder-option \(option): must be name=value")
        }
    }

    func run() async throws {
        try check(size, "--size", Model.sideRange)
        let execution = try execution.value(threads: threads)
        let claim =
            output == "-" ? nil : try OutputClaim(output, inputs: [input].filter { $0 != "-" })
        defer { claim?.end() }
        let display = VideoDisplay(resumes: resume)
        do {
            let colored = try await Interruption.cancelling { try await color(execution, display) }
            display.finish()
            let dropped = live ? ", \(colored.droppedFrames) dropped" : ""
            let frames = Format.counted(colored.frames, "frame")
            Console.note("\(video): \(frames)\(dropped)\(colored.speedText)")
            for index in colored.unseenAnchors {
                Console.note("\(anchors[index]): no frame of the video looks like this anchor")
            }
        } catch is CancellationError {
            display.finish()
            let length = VideoColoringOptions.segmentLength
            let remedy =
                !resume
                ? ""
                : display.frames < length
                    ? "; it is written in segments of \(length) frames, of which none is whole, so "
                        + "that the same command begins at the start"
                    : "; the same command continues after the last whole segment of \(length) "
                        + "frames"
            Console.note(
                display.frames == 0
                    ? "interrupted before the first frame was written"
                    : "interrupted; \(video) has the first \(display.frames) frames\(remedy)")
            throw ExitStatus.interrupted.exit
        } catch {
            display.finish()
            throw error
        }
    }

    /// The name of the colored video in messages.
    private var video: String { output == "-" ? "standard output" : output }

    private func color(
        _ execution: Execution, _ display: VideoDisplay
    ) async throws -> ColoredVideo {
        var options = VideoColoringOptions()
        (options.reading.range, options.reading.matrix) = (range, matrix)
        (options.reading.start, options.reading.duration) = (start, duration)
        (options.encoder, options.encoderOptions) = (encoder, encoderOptions)
        (options.isLive, options.resumes) = (live, resume)
        (options.frames.size, options.frames.stableColors) = (size, stableColors)
        options.frames.saturation = saturation.factor
        options.frames.anchors = try anchors.map { try Image(contentsOf: $0) }
        (options.frames.masks, options.frames.blend) = (try place.masks(), Float(place.blend))
        options.frames.quadrilateral = try picture.quadrilateral
        let path = film == nil ? try modelPath(ShippedCheckpoint.standard) : model
        let model = try Model(contentsOf: path, execution: execution).inStyle(style.style)
        self.execution.note()
        return try await model.colorizeVideo(
            from: input, to: output, options,
            onStart: { display.begin($0, output: video) }, onFrame: { display.update($0) })
    }
}

extension FrameFormat.SampleRange: ExpressibleByArgument {}
extension FrameFormat.ColorMatrix: ExpressibleByArgument {}

extension ColoredVideo {
    /// How fast it was, and what took the time: ", 44.8 a second (network 52 %, …)".
    fileprivate var speedText: String {
        guard frames > 0, seconds > 0 else { return "" }
        let shares = ColoredVideo.Stage.allCases.map { stage in
            "\(stage.rawValue) \(Format.percent(stages.share(of: stage)))"
        }
        return ", \(Format.fixed(Double(frames) / seconds, 1)) a second "
            + "(\(shares.joined(separator: ", ")))"
    }
}

/// The messages while a video is colored.
private final class VideoDisplay: Sendable {
    private struct State {
        var bar: ProgressBar?
        var frames = 0
    }

    private let state = Mutex(State())
    private let resumes: Bool

    /// - Parameter resumes: whether an earlier run is to be continued.
    init(resumes: Bool) { self.resumes = resumes }

    /// The number of frames that were written.
    var frames: Int { state.withLock { $0.frames } }

    func begin(_ video: VideoColoring, output: String) {
        for assumption in video.assumptions { Console.note(assumption) }
        if video.finishedFrames > 0 {
            Console.note("continuing after \(video.finishedFrames) frames of an earlier run")
        } else if resumes {
            Console.note("no earlier run left anything to continue; this one begins at the start")
        }
        for stream in video.omitted {
            Console.note("\(stream) is dropped, because \(output) does not support it; an .mkv may")
        }
        state.withLock {
            $0.frames = video.finishedFrames
            $0.bar = ProgressBar(
                "video", total: video.frameCount ?? 0, unit: "frames", start: video.finishedFrames)
        }
    }

    func update(_ frames: Int) {
        state.withLock { state in
            state.frames = frames
            state.bar?.update(frames)
        }
    }

    func finish() { state.withLock { $0.bar?.finish() } }
}

/// A time in seconds, or as `mm:ss` or `hh:mm:ss`, as FFmpeg takes it.
///
/// - Throws: `ValidationError` if it is neither.
@Sendable private func seconds(_ text: String) throws -> Double {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let values = parts.compactMap { Double($0) }
    let isTime = parts.count == 1 || values.dropFirst().allSatisfy { (0..<60).contains($0) }
    guard (1...3).contains(parts.count), values.count == parts.count, isTime else {
        throw ValidationError("\(text): must be seconds, mm:ss or hh:mm:ss")
    }
    return values.reduce(0) { 60 * $0 + $1 }
}

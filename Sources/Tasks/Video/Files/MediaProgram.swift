import Glibc
import Subprocess
import SystemPackage

/// A program of FFmpeg.
enum MediaProgram: String {
    case ffmpeg, ffprobe

    /// The largest number of bytes kept of a program's standard error.
    static let maximumMessages = 1 << 26
    /// The largest number of bytes read of a video's description.
    private static let maximumDescription = 1 << 22

    /// Runs the program to its end and returns what it printed.
    ///
    /// - Parameters:
    ///   - file: the video that an error names.
    ///   - kind: the kind of error for a failure.
    @discardableResult
    func output(
        of arguments: [String], for file: String, failure kind: VideoError.Kind = .unreadable
    ) async throws -> [UInt8] {
        let result = try await found(for: file) {
            try await run(
                .name(rawValue), arguments: Arguments(arguments),
                platformOptions: Self.runOptions, input: .none,
                output: .bytes(limit: Self.maximumDescription),
                error: .string(limit: Self.maximumMessages))
        }
        // A program that was ended with the task has no reason of its own.
        try Task.checkCancellation()
        guard result.terminationStatus.isSuccess else {
            throw Self.error(kind, file: file, result.standardError)
        }
        return result.standardOutput
    }

    /// Runs a program that writes no video: it is ended with the task.
    private static var runOptions: PlatformOptions {
        var options = pipeOptions
        options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(1))]
        return options
    }

    /// Runs a program while frames are read or written.
    static var pipeOptions: PlatformOptions {
        var options = PlatformOptions()
        // Ctrl-C in a terminal goes to all processes of its group. Only retint may get it: ffmpeg
        // must finish the video.
        options.processGroupID = 0
        // When the task is cancelled, the pipe is closed and ffmpeg ends by itself. The signal of
        // the first step does nothing; ffmpeg is killed a minute later.
        options.teardownSequence = [
            .send(signal: .resume, allowedDurationToNextStep: .seconds(60))
        ]
        return options
    }

    /// Explains what to do if the program is not installed.
    ///
    /// - Parameter file: the video that an error names.
    func found<Result>(for file: String, _ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as SubprocessError where error.code == .executableNotFound {
            throw VideoError(
                .programMissing,
                file: file,
                "cannot find the program \(rawValue), which reads and writes video other than "
                    + "YUV4MPEG2; install it, on Debian with: apt install ffmpeg")
        }
    }

    /// Errors of FFmpeg that do not affect the pictures: chapters whose titles are missing.
    private static let harmless = ["Referenced QT chapter track not found"]

    /// Messages about the pictures.
    static func withoutHarmless(_ messages: String) -> String {
        let lines = messages.split(separator: "\n").filter { line in
            !harmless.contains { line.contains($0) }
        }
        return lines.joined(separator: "\n")
    }

    /// Whether the file could not be written to its end. For some containers, ffmpeg only says so.
    static func failedToWrite(_ messages: String) -> Bool {
        [ENOSPC, EDQUOT, EFBIG, EIO].contains { messages.contains(String(cString: strerror($0))) }
    }

    /// The cause of a container that FFmpeg does not write, in its words.
    private static let unknownContainer = "Unable to find a suitable output format"

    private static let unknownEncoder = "Unknown encoder"

    /// What to do about causes that FFmpeg states in words of its own.
    private static let remedies = [
        (
            unknownContainer,
            "ffmpeg writes no videos of this extension; use .mp4, .mov, .mkv or .webm"
        ),
        ("moov atom not found", "the file is cut off or was not finished; get it once more"),
        (unknownEncoder, "`ffmpeg -encoders` lists those that are installed"),
        (
            "not divisible by 2",
            "this encoder needs even sides: crop or pad the video first, on the command line "
                + "with ffmpeg -vf 'pad=ceil(iw/2)*2:ceil(ih/2)*2', or encode with ffv1 to .mkv"
        ),
    ]

    /// The error of a program that failed.
    ///
    /// - Parameters:
    ///   - kind: the kind of error, unless the name of the output or the encoder is at fault.
    ///   - messages: what the program printed to standard error.
    static func error(_ kind: VideoError.Kind, file: String, _ messages: String) -> VideoError {
        let isName = [unknownContainer, unknownEncoder].contains(where: messages.contains)
        return VideoError(isName ? .outputName : kind, file: file, reason(messages))
    }

    /// The first lines of a program's standard error: the cause, and its consequence or what to do
    /// about it.
    static func reason(_ messages: String) -> String {
        if let (cause, remedy) = remedies.first(where: { messages.contains($0.0) }) {
            let line = messages.split(separator: "\n").first { $0.contains(cause) } ?? ""
            return "\(withoutAddress(line)); \(remedy)"
        }
        var lines: [Substring] = []
        for line in messages.split(separator: "\n") {
            let text = withoutAddress(line)
            if !lines.contains(text) { lines.append(text) }
            if lines.count == 2 { break }
        }
        return lines.isEmpty ? "it failed without a message" : lines.joined(separator: "; ")
    }

    /// `[mp4 @ 0x55d0c0] text` without the part that differs from run to run.
    private static func withoutAddress(_ line: Substring) -> Substring {
        guard line.first == "[", let end = line.firstIndex(of: "]"),
            line[..<end].contains(" @ 0x")
        else { return line }
        return line[line.index(after: end)...].drop { $0 == " " }
    }
}

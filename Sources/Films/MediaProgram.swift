import Subprocess
import SystemPackage

/// A program of FFmpeg.
enum MediaProgram: String {
    case ffmpeg, ffprobe

    /// The most that is kept of what a program writes to standard error.
    static let maximumMessages = 1 << 26
    /// The most that is read of a description of a film.
    private static let maximumDescription = 1 << 22

    /// Runs the program to its end and returns what it printed.
    ///
    /// - Parameter file: the film that an error names.
    func output(of arguments: [String], for file: String) async throws -> [UInt8] {
        let result = try await found {
            try await run(
                .name(rawValue), arguments: Arguments(arguments),
                platformOptions: Self.pipeOptions, input: .none,
                output: .bytes(limit: Self.maximumDescription),
                error: .string(limit: Self.maximumMessages))
        }
        guard result.terminationStatus.isSuccess else {
            throw FilmError(.unreadable, "\(file): \(Self.reason(result.standardError))")
        }
        return result.standardOutput
    }

    /// How a program runs beside the frames that it reads or writes.
    static var pipeOptions: PlatformOptions {
        var options = PlatformOptions()
        // Ctrl-C in a terminal goes to all processes of its group. Only retint may get it: ffmpeg
        // has to finish the film.
        options.processGroupID = 0
        // When the task is cancelled, the pipe is closed and ffmpeg ends by itself. The signal of
        // the first step does nothing; ffmpeg is killed a minute later.
        options.teardownSequence = [
            .send(signal: .resume, allowedDurationToNextStep: .seconds(60))
        ]
        return options
    }

    /// Explains what to do if the program is not there.
    func found<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as SubprocessError where error.code == .executableNotFound {
            throw FilmError(
                .programMissing,
                "the program \(rawValue) is not found, which reads and writes films other than "
                    + "YUV4MPEG2; install it, on Debian with: apt install ffmpeg")
        }
    }

    /// The last line of what a program wrote to standard error.
    static func reason(_ messages: String) -> String {
        let line = messages.split(separator: "\n").last.map(String.init)
        return line ?? "it fails without a message"
    }
}

import Foundation
import RetintFiles
import Subprocess
import SystemPackage

/// A video that is written in segments of ``length`` frames, which are joined at the end. When
/// writing stops, the finished segments stay, so that it can continue after them.
package struct VideoParts {
    /// The number of frames in a segment.
    package static let length = 250

    /// The number of finished segments.
    private var count = 0
    /// The number of frames in the finished segments, unless the video ended in the last of them.
    package var finishedFrames: Int { count * Self.length }
    private let output: String
    private let folder: FilePath
    private let suffix: String

    private static let descriptionName = "video.json"
    private static let maximumDescription = 1 << 16

    /// Finds the segments next to a video, or starts without any.
    ///
    /// - Parameters:
    ///   - output: the video to write.
    ///   - description: everything that determines the frames; other segments are refused.
    /// - Throws: ``VideoError`` if there are segments of something else; `FileError`.
    package init(of output: String, description: [String: String]) throws {
        self.output = output
        let path = output.filePath
        folder = Self.folder(of: output)
        suffix = path.extension.map { ".\($0)" } ?? ""
        try checkOwner()
        try createFolder(folder)
        while try FileKind(at: part(count)) != .nothing { count += 1 }
        try check(description)
    }

    /// Otherwise somebody else's folder would be removed at the end.
    private func checkOwner() throws {
        guard try FileKind(at: folder) != .nothing,
            try FileKind(at: folder.appending(Self.descriptionName)) == .nothing
        else { return }
        guard try isDirectory(folder), entries(of: folder)?.isEmpty == true else {
            throw VideoError(
                .unwritable,
                file: folder.string,
                "exists, but contains no segments of a video; rename it, or write to "
                    + "another file")
        }
    }

    /// All segments must belong together.
    private func check(_ description: [String: String]) throws {
        let path = folder.appending(Self.descriptionName)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        let bytes = Array(try encoder.encode(description))
        let isEmpty = try count == 0 && FileKind(at: pending) == .nothing
        guard try FileKind(at: path) != .nothing, !isEmpty else {
            return try AtomicFile.write(bytes, to: path)
        }
        guard try readFile(path, maximumBytes: Self.maximumDescription) == bytes else {
            throw VideoError(
                .unwritable,
                file: folder.string,
                "has segments of another video, model or set of options; remove "
                    + "the folder, or write to another file")
        }
    }

    private func part(_ index: Int) -> FilePath {
        let digits = String(index)
        let padding = String(repeating: "0", count: max(5 - digits.count, 0))
        return folder.appending("\(padding)\(digits)\(suffix)")
    }

    /// The path of the segment that is being written.
    private var pending: FilePath { folder.appending("pending\(suffix)") }

    /// Writes the next segment.
    ///
    /// - Parameter body: writes frames; returns whether the segment is full or the video has ended.
    package mutating func append<Value: Sendable>(
        _ header: Y4MHeader, _ options: VideoWritingOptions,
        _ body: (FrameWriter) async throws -> Value
    ) async throws -> Value {
        let value = try await withNewVideo(pending.string, header, options, body)
        guard rename(pending.string, part(count).string) == 0 else {
            throw FileError(path: part(count).string, operation: "write")
        }
        count += 1
        return value
    }

    /// Checks that the container supports the source's sound and subtitles, before a segment is
    /// written: they are joined at the very end.
    package func check(_ options: VideoWritingOptions) async throws {
        let copied = options.copied(to: output)
        guard let source = options.source, !copied.isEmpty else { return }
        let trial = folder.appending("check\(suffix)").string
        defer { unlink(trial) }
        let arguments =
            ["-nostdin", "-v", "error", "-y", "-t", "0.1", "-i", VideoProperties.argument(source)]
            + copied.arguments(fromInput: 0) + [VideoProperties.argument(trial)]
        try await MediaProgram.ffmpeg.output(of: arguments, for: output, failure: .unwritable)
    }

    /// Joins the segments with the sound, the subtitles and the chapters of the source.
    ///
    /// - Parameters:
    ///   - options: as for the segments, with the source.
    ///   - seconds: where the sound ends; nil for its own end.
    package func join(_ options: VideoWritingOptions, upTo seconds: Double? = nil) async throws {
        var paths = (0..<count).map(part)
        if try FileKind(at: pending) != .nothing { paths.append(pending) }
        guard !paths.isEmpty else { return }
        let list = folder.appending("parts.txt")
        let lines = paths.compactMap { $0.lastComponent.map { "file '\($0.string)'\n" } }
        try AtomicFile.write(Array(lines.joined().utf8), to: list)
        let arguments =
            ["-nostdin", "-v", "error", "-y", "-f", "concat", "-safe", "0", "-i"]
            + [VideoProperties.argument(list.string)] + options.sourceArguments(for: output)
            + ["-c:v", "copy"] + (seconds.map { ["-t", "\($0)"] } ?? [])
            + [VideoProperties.argument(output)]
        try await MediaProgram.ffmpeg.output(of: arguments, for: output, failure: .unwritable)
    }

    /// Removes the segments of a video.
    package static func remove(of output: String) { _ = removeTree(Self.folder(of: output)) }

    private static func folder(of output: String) -> FilePath { FilePath(output + ".parts") }
}

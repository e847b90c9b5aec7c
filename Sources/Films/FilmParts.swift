import Files
import Foundation
import Frames
import Subprocess
import SystemPackage

/// A film that is written in parts of ``length`` frames, which are joined at the end. When writing
/// stops, the finished parts stay, so that it can go on after them.
package struct FilmParts {
    /// The number of frames of a part.
    package static let length = 250

    /// The number of finished parts.
    package private(set) var count = 0
    private let output: String
    private let folder: FilePath
    private let suffix: String

    private static let descriptionName = "film.json"
    private static let maximumDescription = 1 << 16

    /// Finds the parts beside a film, or begins without any.
    ///
    /// - Parameters:
    ///   - output: the film that is to be written.
    ///   - description: what the film is made of; parts of anything else are refused.
    /// - Throws: ``FilmError`` if there are parts of something else; `FileError`.
    package init(of output: String, description: [String: String]) throws {
        self.output = output
        let path = output.filePath
        folder = FilePath(output + ".parts")
        suffix = path.extension.map { ".\($0)" } ?? ""
        try createFolder(folder)
        try check(description)
        while try FileKind(at: part(count)) != .nothing { count += 1 }
    }

    /// The film's parts must be of one make.
    private func check(_ description: [String: String]) throws {
        let path = folder.appending(Self.descriptionName)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        let bytes = Array(try encoder.encode(description))
        guard try FileKind(at: path) != .nothing else {
            return try AtomicFile.write(bytes, to: path)
        }
        guard try readFile(path, maximumBytes: Self.maximumDescription) == bytes else {
            throw FilmError(
                .unwritable,
                "\(folder): holds the parts of another film, model or choice of options; remove "
                    + "the folder, or write to another file")
        }
    }

    private func part(_ index: Int) -> FilePath {
        let digits = String(index)
        let padding = String(repeating: "0", count: max(5 - digits.count, 0))
        return folder.appending("\(padding)\(digits)\(suffix)")
    }

    /// Where the part that is being written is.
    private var pending: FilePath { folder.appending("pending\(suffix)") }

    /// Writes the next part.
    ///
    /// - Parameter body: writes frames; returns whether the part is full or the film at its end.
    package mutating func append<Value: Sendable>(
        _ header: Y4MHeader, _ options: FilmWritingOptions,
        _ body: (Y4MWriter) async throws -> Value
    ) async throws -> Value {
        let value = try await withNewFilm(pending.string, header, options, body)
        guard rename(pending.string, part(count).string) == 0 else {
            throw FileError(path: part(count).string, operation: "write")
        }
        count += 1
        return value
    }

    /// Joins the parts with the sound, the subtitles and the chapters of the source.
    ///
    /// - Parameter options: as for the parts, with the source.
    package func join(_ options: FilmWritingOptions) async throws {
        var paths = (0..<count).map(part)
        if try FileKind(at: pending) != .nothing { paths.append(pending) }
        guard !paths.isEmpty else { return }
        let list = folder.appending("parts.txt")
        let lines = paths.compactMap { $0.lastComponent.map { "file '\($0.string)'\n" } }
        try AtomicFile.write(Array(lines.joined().utf8), to: list)
        let arguments =
            ["-nostdin", "-v", "error", "-y", "-f", "concat", "-safe", "0", "-i"]
            + [FilmProperties.argument(list.string)] + options.sourceArguments
            + (options.source == nil ? ["-map", "0:v:0"] : []) + ["-c:v", "copy"]
            + [FilmProperties.argument(output)]
        _ = try await MediaProgram.ffmpeg.output(of: arguments, for: output)
    }

    /// Removes the parts.
    package func remove() { _ = removeTree(folder) }
}

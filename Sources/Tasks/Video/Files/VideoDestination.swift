import Glibc
import RetintFiles
import SystemPackage

/// The file that `ffmpeg` writes: beside an existing one, which it would empty before it knows
/// whether it can write the new one.
struct VideoDestination {
    /// The video.
    let path: String
    /// The file that is written.
    let written: String

    private var isBeside: Bool { written != path }
    /// A container without pictures is shorter.
    private static let leastBytes = 4096

    /// - Throws: `FileError` if the path cannot be examined.
    init(_ path: String) throws(FileError) {
        self.path = path
        guard try FileKind(at: path) == .file else {
            written = path
            return
        }
        let target = path.filePath
        let name = ".\(target.stem ?? "video").\(getpid()).partial.\(target.extension ?? "")"
        written = target.removingLastComponent().appending(name).string
    }

    /// Puts the video in place of the existing one.
    func publish() throws(FileError) {
        guard isBeside else { return }
        // A link stays, and what it leads to is replaced.
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        guard rename(written, resolved.map { String(cString: $0) } ?? path) == 0 else {
            throw FileError(path: path, operation: "write")
        }
    }

    /// After `ffmpeg` failed: keeps the existing video, or a new one with pictures.
    func discard() {
        var status = stat()
        guard stat(written, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        if isBeside || status.st_size < Self.leastBytes { unlink(written) }
    }
}

import Glibc
import RetintFiles

/// The file that `ffmpeg` writes: beside an existing one, which it would empty before it knows
/// whether it can write the new one.
struct VideoDestination {
    /// The video.
    let path: String
    private let pending: PendingFile?
    /// A container without pictures is shorter.
    private static let leastBytes = 4096
    /// Containers that cannot be played without their index, which is written last.
    private static let indexedAtEnd: Set = ["3gp", "m4v", "mov", "mp4"]

    /// - Throws: `FileError` if the path cannot be examined, is a folder, or if another process
    ///   writes it; ``VideoError`` if it names a picture.
    init(_ path: String) throws {
        self.path = path
        let suffix = path.filePath.extension?.lowercased() ?? ""
        guard !Self.pictures.contains(suffix) else {
            throw VideoError(.outputName, file: path, "is the name of a picture; use .mp4 or .mkv")
        }
        // Of a folder, it says that it is one.
        let exists = [.file, .directory].contains(try FileKind(at: path))
        pending = exists ? try PendingFile(for: path, keepingExtension: true) : nil
    }

    /// Extensions for which FFmpeg would write one picture over another.
    private static let pictures: Set = ["bmp", "jpeg", "jpg", "png", "tif", "tiff", "webp"]

    /// The file that is written.
    var written: String { pending?.path.string ?? path }

    /// Whether anything was written.
    var hasContent: Bool {
        var status = stat()
        return stat(written, &status) == 0 && status.st_size > 0
    }

    /// Puts the video in place of the existing one.
    func publish() throws(FileError) {
        try pending?.publish()
    }

    /// After `ffmpeg` failed: keeps the existing video, or a new one that can be played.
    func discard() {
        var status = stat()
        guard pending == nil, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return
        }
        let isIndexed = Self.indexedAtEnd.contains(path.filePath.extension?.lowercased() ?? "")
        if isIndexed || status.st_size < Self.leastBytes { unlink(path) }
    }
}

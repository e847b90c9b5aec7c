import Retint

enum Photos {
    /// The files among photos, which no output may replace.
    static func files(_ photos: [PhotoReference]) -> [String] {
        photos.compactMap { if case .file(let path) = $0 { path } else { nil } }
    }

    /// The mean colorfulness below which photos have no colors to speak of.
    static let leastColorfulness = 1.0

    /// Warns if photos have no colors that a model's could be compared with.
    static func warn(ofGray report: EvaluationReport, in data: String?) {
        let gray = report.photos.count {
            $0.quality.colorfulness - $0.quality.colorfulnessBias < leastColorfulness
        }
        guard gray > 0 else { return }
        let which =
            gray < report.photos.count ? "\(gray) of \(report.photos.count) photos" : "the photos"
        Console.warn(
            "\(data ?? "photos"): \(which) have no colors to compare with, so paler models seem "
                + "better")
    }

    /// Says that a photo in a folder is left out because its name is not UTF-8, so that no path of
    /// retint could name it.
    static func warn(ofName error: FileError) { Console.warn("left out \(error)") }

    /// Says how many of a folder's photos are in subfolders, which some commands leave out.
    static func noteSubfolders(_ photos: [PhotoReference], of folder: String) {
        guard (try? PhotoReference.isFolder(folder)) == true else { return }
        let root = folder.filePath.string
        let count = photos.count { photo in
            guard case .file(let path) = photo else { return false }
            return path.filePath.removingLastComponent().string != root
        }
        guard count > 0 else { return }
        Console.note("\(photos.count) photos, \(count) of them in subfolders of \(folder)")
    }
}

/// The photos of a folder and its subfolders, sorted by path, or of a file list; or one photo.
///
/// - Throws: as ``photoReferences(_:)``; ``CommandError`` also if they are in a packed dataset.
func photoFiles(in source: String) throws -> [String] {
    try photoReferences(source).map { photo in
        guard case .file(let path) = photo else {
            throw CommandError(
                .usage, "\(source): is a packed dataset; name a folder or a list of photos (.txt)")
        }
        return path
    }
}

/// The photos of a folder, a file list or a packed dataset. Warns of photos that are left out for
/// their names.
///
/// - Throws: as `PhotoReference.list(_:leavingOut:)`; ``CommandError`` if there are no photos.
func photoReferences(_ source: String) throws -> [PhotoReference] {
    let found = try PhotoReference.list(source, leavingOut: Photos.warn(ofName:))
    guard !found.isEmpty else {
        throw CommandError(
            .input, "\(source): contains no photos; \(ImageFormat.readable) files are read")
    }
    return found
}

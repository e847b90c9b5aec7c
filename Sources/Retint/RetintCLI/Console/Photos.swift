import Retint

/// The photos of a folder and its subfolders, sorted by path, or of a file list; or one photo.
///
/// - Throws: as `PhotoReference.list(_:)`; ``CommandError`` if there are no photos, or if they are
///   in a packed dataset.
func photoFiles(in source: String) throws -> [String] {
    try photoReferences(source).map { photo in
        guard case .file(let path) = photo else {
            throw CommandError(
                .usage, "\(source): is a packed dataset; name a folder or a list of photos (.txt)")
        }
        return path
    }
}

/// The photos of a folder, a file list or a packed dataset.
///
/// - Throws: as `PhotoReference.list(_:)`; ``CommandError`` if there are no photos.
func photoReferences(_ source: String) throws -> [PhotoReference] {
    let found = try PhotoReference.list(source)
    guard !found.isEmpty else {
        throw CommandError(
            .input, "\(source): contains no photos; \(ImageFormat.readable) files are read")
    }
    return found
}

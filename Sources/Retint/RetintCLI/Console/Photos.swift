import Retint

/// The photos of a folder and its subfolders, sorted by path.
///
/// - Throws: `FileError` if the folder cannot be read; ``CommandError`` if it has no photos.
func photoFiles(below directory: String) throws -> [String] {
    try photos(PhotoReference.files(below: directory), in: directory)
}

/// The photos of a folder, a file list or a packed dataset.
///
/// - Throws: as `PhotoReference.list(_:)`; ``CommandError`` if there are no photos.
func photoReferences(_ source: String) throws -> [PhotoReference] {
    try photos(PhotoReference.list(source), in: source)
}

private func photos<Photo>(_ found: [Photo], in source: String) throws(CommandError) -> [Photo] {
    guard !found.isEmpty else {
        throw CommandError(
            .input, "\(source): contains no photos; JPEG, PNG and WebP files are read")
    }
    return found
}

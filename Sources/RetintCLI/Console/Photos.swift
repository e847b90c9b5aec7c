import Retint

/// The photos of a directory and its subdirectories, sorted by path.
///
/// - Throws: `FileError` if the directory cannot be read; ``CommandError`` if it holds no photo.
func photoFiles(below directory: String) throws -> [String] {
    try photos(
        listFiles(below: directory, extensions: PhotoReference.extensions), in: directory)
}

/// The photos of a directory, a list or a packed dataset.
///
/// - Throws: what ``PhotoReference/list(_:)`` throws; ``CommandError`` if there is no photo.
func photoReferences(_ source: String) throws -> [PhotoReference] {
    try photos(PhotoReference.list(source), in: source)
}

private func photos<Photo>(_ found: [Photo], in source: String) throws(CommandError) -> [Photo] {
    guard !found.isEmpty else {
        throw CommandError(
            .badInput, "\(source): holds no photo; give JPEG, PNG or WebP files")
    }
    return found
}

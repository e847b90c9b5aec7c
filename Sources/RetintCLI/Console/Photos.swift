import ColorScience
import Files
import ImageIO
import Retint
import TensorGraph

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

/// L of a photo in 0…100, resized: [1, 1, H, W].
func lightnessTensor(ofPhoto path: String, height: Int, width: Int) throws -> TensorData {
    let photo = try Image(contentsOf: path).resized(to: width, height: height)
    return TensorData(shape: [1, 1, height, width], scalars: lab(fromRGB: photo.pixels).l)
}

import ColorScience
import Files
import ImageIO
import TensorGraph

/// The photos of a directory and its subdirectories, sorted by path.
///
/// - Throws: `FileError` if the directory cannot be read; ``CommandError`` if it holds no photo.
func photoFiles(below directory: String) throws -> [String] {
    let photos = try listFiles(below: directory, extensions: ["jpg", "jpeg", "png", "webp"])
    guard !photos.isEmpty else {
        throw CommandError(
            .badInput, "\(directory): holds no photo; give a directory of JPEG, PNG or WebP files")
    }
    return photos
}

/// L of a photo in 0…100, resized: [1, 1, H, W].
func lightnessTensor(ofPhoto path: String, height: Int, width: Int) throws -> TensorData {
    let photo = try Image(contentsOf: path).resized(to: width, height: height)
    return TensorData(shape: [1, 1, height, width], scalars: lab(fromRGB: photo.pixels).l)
}

import Retint

/// The photos of a folder or list as a package takes them, or files of tensors
/// (`VerificationInputs.init(files:for:)`) for a package that takes no photos.
///
/// - Parameters:
///   - name: that of the package, for errors.
///   - range: that of photos in a tensor that is neither lightness nor an image.
///   - limit: the largest number of photos, evenly spaced.
/// - Throws: ``CommandError`` if the package takes no photos, or more at a time than there are;
///   `ImageError` if a photo cannot be read.
func calibrationInputs(
    _ folder: String, for package: MLPackage, named name: String, range: ValueRange?, limit: Int
) throws -> [[NamedTensor]] {
    let model = Model(package, name: name)
    let takesPhotos = try model.interface.inputs.contains(where: \.takesPhotos)
    guard takesPhotos, try !VerificationInputs.hasTensors(at: folder) else {
        let inputs = try VerificationInputs(files: [folder], for: model.interface)
        return try (0..<min(limit, inputs.count)).map { try inputs.input($0).tensors }
    }
    let all = try photoFiles(in: folder)
    let photos = try PhotoInputs(
        for: model.interface, shapes: model.inputShapes(), model: name, range: range)
    let count = min(limit, all.count)
    let whole = count - count % photos.batch
    guard whole > 0 else {
        throw CommandError(
            .usage, "\(name): takes \(photos.batch) photos at a time, but there are \(count)")
    }
    let chosen = (0..<whole).map { all[$0 * all.count / whole] }
    return try photos.batches(chosen).map(photos.tensors)
}

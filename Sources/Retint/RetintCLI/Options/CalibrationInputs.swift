import Retint

/// The photos of a folder or list as a package takes them, or files of tensors
/// (`VerificationInputs.init(files:for:)`) for a package that takes no photos.
///
/// - Parameters:
///   - name: that of the package, for errors.
///   - range: that of photos in a tensor that is neither lightness nor an image.
///   - limit: the largest number of photos, evenly spaced.
///   - others: whether those are returned that the limit leaves out, as many at most.
/// - Throws: ``CommandError`` if the package takes no photos, or more at a time than there are;
///   `ImageError` if a photo cannot be read.
func calibrationInputs(
    _ folder: String, for package: MLPackage, named name: String, range: ValueRange?, limit: Int,
    others: Bool = false
) throws -> [[NamedTensor]] {
    let model = Model(package, name: name)
    let takesPhotos = try model.interface.inputs.contains(where: \.takesPhotos)
    guard takesPhotos, try !VerificationInputs.hasTensors(at: folder) else {
        let inputs = try VerificationInputs(files: [folder], for: model.interface)
        let first = others ? limit : 0
        return try (first..<max(first, min(first + limit, inputs.count))).map {
            try inputs.input($0).tensors
        }
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
    let chosen = spaced(all.count, whole)
    guard others else { return try photos.batches(chosen.map { all[$0] }).map(photos.tensors) }
    let taken = Set(chosen)
    let rest = all.indices.filter { !taken.contains($0) }
    let fewer = min(limit, rest.count)
    return try photos.batches(
        spaced(rest.count, fewer - fewer % photos.batch).map { all[rest[$0]] }
    ).map(photos.tensors)
}

/// Some of `count` indices, evenly spaced.
private func spaced(_ count: Int, _ chosen: Int) -> [Int] {
    (0..<chosen).map { $0 * count / chosen }
}

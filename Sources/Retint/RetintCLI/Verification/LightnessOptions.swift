import ArgumentParser
import Retint

/// The inputs on which two models are compared.
struct LightnessOptions: ParsableArguments {
    @Option(
        name: .customLong("photo"),
        help: ArgumentHelp(
            "A photo to compare on instead of random lightness; repeatable.",
            valueName: "file"), completion: .photo)
    var files: [String] = []

    @Option(
        name: .customLong("photos"),
        help: ArgumentHelp(
            "A folder of photos to compare on; repeatable.", valueName: "dir"),
        completion: .directory)
    var directories: [String] = []

    @Option(help: "The side of the square input; default: that of the model.")
    var size: Int?

    @Option(help: "The seed of the random lightness; default: 0.")
    var seed: UInt64?

    var isGiven: Bool {
        !files.isEmpty || !directories.isEmpty || size != nil || seed != nil
    }

    func validate() throws {
        let range = Model.sideRange
        if let size, !range.contains(size) {
            throw ValidationError(
                "--size \(size): must be from \(range.lowerBound) to \(range.upperBound)")
        }
    }

    /// The photos, followed by the photos in folders.
    ///
    /// - Throws: `FileError` if a folder cannot be read, ``CommandError`` if it has no photos.
    var paths: [String] {
        get throws {
            try files + directories.flatMap { try photoFiles(below: $0) }
        }
    }

    /// Batches of the photos' lightness, resized; or of noise without photos.
    ///
    /// - Parameter shape: the shape of a batch, [N, 1, H, W]; --size replaces H and W.
    /// - Throws: ``CommandError`` if the photos do not fill the batches.
    func inputs(shape: Shape) throws -> VerificationInputs {
        var shape = shape
        if let size { (shape[2], shape[3]) = (size, size) }
        let (paths, batch) = (try paths, shape[0])
        guard !paths.isEmpty else { return .noise(shape: shape, seed: seed ?? 0) }
        guard paths.count.isMultiple(of: batch) else {
            throw CommandError(
                .usage,
                "the model takes \(batch) photos at a time, but there are \(paths.count); give a "
                    + "multiple of \(batch)")
        }
        return VerificationInputs(count: paths.count / batch) { [shape] index in
            let own = Array(paths[index * batch..<(index + 1) * batch])
            let planes = try own.flatMap {
                try Image(contentsOf: $0).lightness(height: shape[2], width: shape[3]).scalars
            }
            return VerificationInputs.Input(
                labels: own, lightness: TensorData(shape: shape, scalars: planes))
        }
    }
}

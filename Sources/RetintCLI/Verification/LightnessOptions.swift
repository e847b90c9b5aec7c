import ArgumentParser
import Retint

/// What two models are compared on.
struct LightnessOptions: ParsableArguments {
    @Option(
        name: .customLong("photo"),
        help: ArgumentHelp(
            "A photo to compare on, instead of random lightness; may be given again.",
            valueName: "file"))
    var files: [String] = []

    @Option(
        name: .customLong("photos"),
        help: ArgumentHelp(
            "A directory of photos to compare on; may be given again.", valueName: "dir"))
    var directories: [String] = []

    @Option(help: "The side of the square to compare on; the model's own, or 256.")
    var size: Int?

    @Option(help: "Seed of the random lightness (0).")
    var seed: UInt64?

    var isGiven: Bool {
        !files.isEmpty || !directories.isEmpty || size != nil || seed != nil
    }

    func validate() throws {
        if let size, !(1...16384).contains(size) {
            throw ValidationError("--size is \(size); give a number from 1 to 16384")
        }
    }

    /// The photos, those of directories last.
    ///
    /// - Throws: `FileError` if a directory cannot be read, ``CommandError`` if it has no photo.
    var paths: [String] {
        get throws {
            try files + directories.flatMap { try photoFiles(below: $0) }
        }
    }

    /// L of the photos, resized, as many at a time as `shape` has; or of noise.
    ///
    /// - Throws: ``CommandError`` if there are not as many photos as batches want.
    func inputs(shape: Shape) throws -> VerificationInputs {
        var shape = shape
        if let size { (shape[2], shape[3]) = (size, size) }
        let (paths, batch) = (try paths, shape[0])
        guard !paths.isEmpty else { return .noise(shape: shape, seed: seed ?? 0) }
        guard paths.count.isMultiple(of: batch) else {
            throw CommandError(
                .wrongUsage,
                "the model takes \(batch) photos at a time and \(paths.count) are given; give a "
                    + "multiple of \(batch)")
        }
        return VerificationInputs(count: paths.count / batch) { [shape] index in
            let own = Array(paths[index * batch..<(index + 1) * batch])
            let planes = try own.flatMap {
                try Image(contentsOf: $0).lightness(height: shape[2], width: shape[3]).scalars
            }
            return VerificationInput(
                labels: own, lightness: TensorData(shape: shape, scalars: planes))
        }
    }
}

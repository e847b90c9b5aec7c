import RetintFiles
import RetintTensors

/// Photos divided into training, validation and test photos.
///
/// Only a photo's perceptual hash decides its part: it stays there when other photos are added
/// or when it is renamed. Two photos with equal hashes go to the same part; a ``PhotoSurvey`` keeps
/// only one of photos whose hashes are similar.
public struct PhotoSplit: Sendable {
    /// The training photos, in their original order.
    public private(set) var train: [PhotoSurvey.Photo] = []
    /// The validation photos, in their original order.
    public private(set) var validation: [PhotoSurvey.Photo] = []
    /// The test photos, in their original order.
    public private(set) var test: [PhotoSurvey.Photo] = []

    /// Divides photos at random.
    ///
    /// - Parameters:
    ///   - validation: the fraction of validation photos, 0…1.
    ///   - test: the fraction of test photos, 0…1.
    ///   - seed: another seed gives another split.
    public init(_ photos: [PhotoSurvey.Photo], validation: Double, test: Double, seed: UInt64 = 0) {
        for photo in photos {
            var random = RandomStream(seed: seed, name: "split \(photo.hash.bits)")
            let position = random.uniform()
            if position < test {
                self.test.append(photo)
            } else if position < test + validation {
                self.validation.append(photo)
            } else {
                train.append(photo)
            }
        }
    }

    /// The parts with the names of their lists.
    public var parts: [(name: String, photos: [PhotoSurvey.Photo])] {
        [("train", train), ("validation", validation), ("test", test)]
    }

    /// Writes the file lists `train.txt`, `validation.txt` and `test.txt` with absolute paths.
    ///
    /// - Parameter folder: created if it does not exist.
    /// - Throws: ``PhotoError`` if photos are in a packed dataset, `FileError` if a list cannot be
    ///   written.
    public func writeLists(to folder: some PathConvertible) throws {
        try createFolder(folder)
        for (name, photos) in parts {
            let lines = try photos.map { try Self.absolutePath($0.reference) + "\n" }
            try AtomicFile.write(
                Array(lines.joined().utf8), to: folder.filePath.appending("\(name).txt"))
        }
    }

    private static func absolutePath(_ reference: PhotoReference) throws(PhotoError) -> String {
        guard case .file(let path) = reference else {
            throw PhotoError(
                .packed,
                file: "\(reference)",
                "is in a packed dataset, which cannot be split into file lists; "
                    + "split the photos before packing them")
        }
        guard !path.utf8.contains(UInt8(ascii: "\n")), path.utf8.last != UInt8(ascii: "\r") else {
            throw PhotoError(
                .name, file: path.debugDescription,
                "has a line break in its path, which a list of one path per line cannot have; "
                    + "rename it")
        }
        guard !path.isAbsolutePath, let folder = currentFolder() else { return path }
        guard let start = folder.text else {
            throw PhotoError(
                .name, file: folder.visible,
                "is not UTF-8, as the paths in a list must be; rename this folder, or name photos "
                    + "by paths that start at the root")
        }
        return "\(start)/\(path)"
    }
}

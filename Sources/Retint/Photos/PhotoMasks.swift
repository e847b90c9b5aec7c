import Files
import ImageIO
import Photos

/// The masks of photos: one for all of them, or a folder with one for each.
public struct PhotoMasks: Sendable {
    private enum Source {
        case one(ColorMask)
        /// The paths of the masks by their names below the folder, without extension.
        case folder([String: [String]])
    }

    private let path: String
    private let source: Source
    private let instances: [Int]?
    private let feather: Float

    /// Finds masks. A single one is read at once, those of a folder when their photos are colored.
    ///
    /// - Parameters:
    ///   - path: of a mask, or of a folder, in which the mask of each photo has the photo's name;
    ///     the extension may differ. Photos in subfolders have their masks in the same subfolders.
    ///   - instances: if the masks hold the indices of instances, those that are colored; see
    ///     ``ColorMask/init(contentsOf:instances:limits:)``.
    ///   - feather: see ``ColorMask/feathered(_:)``.
    /// - Throws: `ImageError` or `PhotoError` if a single mask cannot be read or lacks an instance;
    ///   `FileError` if a folder cannot be read; `PhotoError` if it has no masks.
    public init(contentsOf path: String, instances: [Int]? = nil, feather: Float = 0) throws {
        (self.path, self.instances, self.feather) = (path, instances, feather)
        guard (try? isDirectory(path)) == true else {
            source = .one(try Self.read(path, instances, feather))
            return
        }
        let files = try listFiles(below: path, extensions: PhotoReference.extensions)
        guard !files.isEmpty else {
            throw PhotoError(
                .none, "\(path): holds no masks; JPEG, PNG and WebP files are read")
        }
        source = .folder(Dictionary(grouping: files) { photoName($0, below: path) })
    }

    /// The mask of a photo.
    ///
    /// - Throws: `PhotoError` if the photo has no mask, two of them, or one of another size;
    ///   `ImageError` or `PhotoError` if it cannot be read or lacks an instance.
    func mask(for file: PhotoFile, width: Int, height: Int) throws -> ColorMask {
        let mask: ColorMask, name: String
        switch source {
        case .one(let only): (mask, name) = (only, path)
        case .folder(let paths):
            name = try Self.path(of: paths[file.name] ?? [], for: file, in: path)
            mask = try Self.read(name, instances, feather)
        }
        try mask.check(width: width, height: height, photo: file.photo, mask: name)
        return mask
    }

    /// Checks that no mask is overwritten by a colored photo.
    ///
    /// - Throws: `PhotoError` with the mask that would be.
    func checkKept(by files: [PhotoFile]) throws(PhotoError) {
        let paths: [String]
        switch source {
        case .one: paths = [path]
        case .folder(let found): paths = found.values.flatMap { $0 }
        }
        let masks = Set(paths.compactMap { FileIdentity(of: $0) })
        for output in files.flatMap({ [$0.output, $0.strip].compactMap { $0 } }) {
            guard let identity = FileIdentity(of: output), masks.contains(identity) else {
                continue
            }
            throw PhotoError(
                .output, "\(output): is a mask and would be overwritten; choose another output path"
            )
        }
    }

    private static func path(
        of found: [String], for file: PhotoFile, in folder: String
    ) throws(PhotoError) -> String {
        guard let first = found.first else {
            throw PhotoError(
                .mask,
                "\(file.photo): has no mask; \(folder) has no image with the name \(file.name)")
        }
        guard found.count == 1 else {
            throw PhotoError(
                .mask,
                "\(file.photo): has several masks, \(found.joined(separator: " and ")); keep one")
        }
        return first
    }

    private static func read(
        _ path: String, _ instances: [Int]?, _ feather: Float
    ) throws -> ColorMask {
        let mask =
            if let instances { try ColorMask(contentsOf: path, instances: instances) } else {
                try ColorMask(contentsOf: path)
            }
        return mask.feathered(feather)
    }
}

/// The path of a photo below a folder, without extension.
func photoName(_ photo: String, below root: String) -> String {
    let name = photo.filePath.stem ?? photo
    let inside = photo.dropFirst(root.hasSuffix("/") ? root.count : root.count + 1)
    return inside.lastIndex(of: "/").map { inside[...$0] + name } ?? name
}

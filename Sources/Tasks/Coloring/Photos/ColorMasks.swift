import Foundation
import RetintDistributed
import RetintFiles
import RetintImages
import RetintLocks
import RetintPhotoData

/// The masks of photos or of video frames: one for all of them, or a folder with one for
/// each.
public struct ColorMasks: Sendable {
    private enum Source {
        case one(ColorMask)
        /// The paths of the masks, and the paths of those not in subfolders in the order of frames.
        case folder([String], frames: [String])
    }

    /// The path of the mask or of the folder.
    package let path: String
    private let source: Source
    /// The paths of the masks of a folder by the bytes of their names below it, without
    /// extension: names that Unicode calls equivalent are those of different files.
    private let names: [[UInt8]: [String]]
    private let instances: [Int]?
    /// The chosen instances that masks of the folder had.
    private let found = FoundInstances()
    private let feather: Float

    /// Finds masks. A single one is read immediately, those of a folder when they are needed.
    ///
    /// - Parameters:
    ///   - path: a mask, or a folder. In a folder, the mask of each photo has the photo's name; the
    ///     extension may differ. Photos in subfolders have their masks in the same subfolders.
    ///     Video frames use the masks in the order of the numbers in their names, such as
    ///     `0001.png` or `9.png` and `10.png`; subfolders are ignored.
    ///   - instances: for masks with instance indices, the instances to color; see
    ///     ``ColorMask/init(contentsOf:instances:limits:)``. A mask of a folder need not have all
    ///     of them.
    ///   - feather: see ``ColorMask/feathered(_:)``.
    /// - Throws: `ImageError` or `PhotoError` if a single mask cannot be read or lacks an instance;
    ///   `FileError` if a folder cannot be read; `PhotoError` if it has no masks.
    public init(contentsOf path: String, instances: [Int]? = nil, feather: Float = 0) throws {
        (self.path, self.instances, self.feather) = (path, instances, feather)
        guard (try? isDirectory(path)) == true else {
            source = .one(try Self.read(path, instances, feather))
            names = [:]
            return
        }
        let files = try listFiles(below: path, extensions: PhotoReference.extensions)
        guard !files.isEmpty else {
            throw PhotoError(
                .none, file: path, "contains no masks; \(ImageFormat.readable) files are read")
        }
        let frames = try listFiles(
            below: path, extensions: PhotoReference.extensions, recursive: false)
        source = .folder(
            files, frames: frames.sorted { $0.compare($1, options: .numeric) == .orderedAscending })
        names = Dictionary(grouping: files) { Array(photoName($0, below: path).utf8) }
    }

    /// The mask of a photo.
    ///
    /// - Throws: `PhotoError` if the photo has no mask, two of them, or one of another size;
    ///   `ImageError` or `PhotoError` if it cannot be read or lacks an instance.
    func mask(for file: PhotoFile, width: Int, height: Int) throws -> ColorMask {
        let found = names[Array(file.name.utf8)] ?? []
        let name = only == nil ? try Self.path(of: found, for: file, in: path) : path
        let mask = try only ?? read(name)
        try mask.check(width: width, height: height, photo: file.photo, mask: name)
        return mask
    }

    /// The mask of all photos or frames; nil if each has its own.
    package var only: ColorMask? { if case .one(let mask) = source { mask } else { nil } }

    /// The number of frames that a folder has masks for.
    package var count: Int { frames.count }

    private var paths: [String] {
        if case .folder(let paths, _) = source { paths } else { [path] }
    }

    private var frames: [String] {
        if case .folder(_, let frames) = source { frames } else { [path] }
    }

    /// The mask of a frame in a folder.
    ///
    /// - Parameter frame: the frame's name for errors.
    /// - Throws: `PhotoError` if it has another size; `ImageError` if it cannot be read.
    package func mask(at index: Int, width: Int, height: Int, frame: String) throws -> ColorMask {
        let mask = try read(frames[index])
        try mask.check(width: width, height: height, photo: frame, mask: frames[index])
        return mask
    }

    /// The part of the masks that the colors of a video depend on: which mask or folder, and how it
    /// is read. A folder may change until its masks are needed, so that a missing one can be added.
    package var description: String {
        var hash = ContentHash()
        if let only { hash.update(only.values) }
        let chosen = instances.map { "\(Set($0).sorted())" } ?? "all"
        return "\(path), \(hash.digest.hexadecimal), instances \(chosen), feather \(feather)"
    }

    /// Adds the instances that masks had on other ranks.
    func gatherInstances(_ ranks: Communicator) throws {
        for indices in try ranks.gather(found.all) { found.insert(indices) }
    }

    /// Checks that each of the chosen instances was in at least one mask of a folder, after all
    /// have been used.
    ///
    /// - Throws: `PhotoError` with an instance that was in no mask.
    package func checkInstances() throws(PhotoError) {
        guard only == nil, let missing = instances?.first(where: { !found.contains($0) }) else {
            return
        }
        throw PhotoError(
            .mask, file: path, "none of the masks used has instance \(missing)")
    }

    /// Checks that no mask is overwritten by a colored photo.
    ///
    /// - Throws: `PhotoError` with the mask that would be overwritten.
    func checkKept(by files: [PhotoFile]) throws(PhotoError) {
        let masks = Set(paths.compactMap { FileIdentity(of: $0) })
        for output in files.flatMap({ [$0.output, $0.strip].compactMap { $0 } }) {
            guard let identity = FileIdentity(of: output), masks.contains(identity) else {
                continue
            }
            throw PhotoError(
                .output, file: output,
                "is a mask and would be overwritten; choose another output path"
            )
        }
    }

    private static func path(
        of found: [String], for file: PhotoFile, in folder: String
    ) throws(PhotoError) -> String {
        guard let first = found.first else {
            throw PhotoError(
                .mask,
                file: file.photo, "has no mask; \(folder) has no image named \(file.name)")
        }
        guard found.count == 1 else {
            throw PhotoError(
                .mask,
                file: file.photo, "has several masks, \(found.joined(separator: " and ")); keep one"
            )
        }
        return first
    }

    /// A single mask must have all instances.
    private static func read(
        _ path: String, _ instances: [Int]?, _ feather: Float
    ) throws -> ColorMask {
        let mask =
            if let instances { try ColorMask(contentsOf: path, instances: instances) } else {
                try ColorMask(contentsOf: path)
            }
        return mask.feathered(feather)
    }

    /// An object may be missing in some of the photos or frames.
    private func read(_ path: String) throws(ImageError) -> ColorMask {
        guard let instances else { return try ColorMask(contentsOf: path).feathered(feather) }
        let (mask, present) = try ColorMask.chosen(instances, in: path)
        found.insert(present)
        return mask.feathered(feather)
    }
}

/// The instances in any of the masks. It may be shared between threads.
private final class FoundInstances: Sendable {
    private let indices = Mutex<Set<Int>>([])

    func insert(_ new: Set<Int>) { indices.withLock { $0.formUnion(new) } }

    var all: Set<Int> { indices.withLock { $0 } }

    func contains(_ index: Int) -> Bool { indices.withLock { $0.contains(index) } }
}

/// The path of a photo below a folder, without extension.
func photoName(_ photo: String, below root: String) -> String {
    let name = photo.filePath.stem ?? photo
    return (photo.path(below: root).pathParts.dropLast() + [name]).joined(separator: "/")
}

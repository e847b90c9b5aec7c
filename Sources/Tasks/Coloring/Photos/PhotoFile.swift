import RetintCheckpoints
public import RetintFiles
import RetintImages
import RetintPhotoData

/// A photo in a file, and where its colored copy goes.
public struct PhotoFile: Hashable, Sendable {
    /// The path of the photo.
    public var photo: String
    /// The path of the colored copy; an existing file is replaced.
    public var output: String
    /// The path of a strip that shows the photo gray, colored and original; nil for none.
    public var strip: String?
    /// The format of the colored copy and of the strip.
    public var format: ImageFormat
    /// The photo's name in a folder of masks: its path below the listed folder, without
    /// extension.
    public var name: String

    /// A photo, and where its colored copy goes.
    ///
    /// - Parameters:
    ///   - photo: the path of the photo.
    ///   - output: the path of its colored copy.
    ///   - strip: the path of a strip that shows the photo gray, colored and original; nil for
    ///     none.
    ///   - format: the format of the copy and the strip.
    ///   - name: the name in a folder of masks; nil for the last component of the photo's path.
    public init(
        _ photo: String, output: String, strip: String? = nil, format: ImageFormat,
        name: String? = nil
    ) {
        (self.photo, self.output, self.strip, self.format) = (photo, output, strip, format)
        self.name = name ?? photo.filePath.stem ?? photo
    }

    /// Whether the colored copy, and the strip if one is wanted, exist. Files are written
    /// atomically, so an existing one is complete.
    public var isFinished: Bool {
        [output, strip].compactMap { $0 }.allSatisfy { (try? FileKind(at: $0)) == .file }
    }
}

extension PhotoFile {
    /// How the colored copies of photos are named.
    public struct ListOptions: Sendable {
        /// The formats that are written.
        public enum Format: String, CaseIterable, Sendable {
            /// Lossless.
            case png
            /// Lossy, at the highest usual quality.
            case jpeg
        }

        /// The format to write; nil: JPEG for JPEG photos and PNG for others.
        public var format: Format?
        /// Whether photos in subfolders are also colored.
        public var isRecursive = false
        /// Files and folders inside input folders that are not colored, such as masks.
        public var excluded: [String] = []
        /// Whether strips are written next to the colored copies, as `NAME-compare`.
        public var hasStrips = false
        /// Whether copies that exist are left as they are.
        public var keepsCopies = false

        /// The defaults.
        public init() {}
    }
}

extension PhotoFile {
    /// Lists photos, and the files that their colored copies are written to.
    ///
    /// - Parameters:
    ///   - paths: photos, and folders whose photos are taken in the order of their names. The
    ///     subfolders of a folder are kept. Photos inside `folder` are skipped. Where the copies of
    ///     `k.png` and `k.bmp` would be one file, that of the latter is `k.bmp.png`. A photo that
    ///     is given twice counts once.
    ///   - output: the folder where colored copies go; or for one photo the file, if it ends in
    ///     `.jpg`, `.jpeg` or `.png` and is not a folder.
    ///   - options: how the copies are named.
    ///   - leaveOut: is told of each photo in a folder whose path is not UTF-8, which is left out;
    ///     if nil, such a path is an error.
    /// - Throws: `FileError` if a folder cannot be read; ``PhotoError`` if the output has no name,
    ///   if a folder has no photos, if two photos would be written to one file, or if one would be
    ///   overwritten: one of these, or another image in a photo's own folder.
    public static func list(
        _ paths: [String], to output: String, _ options: PhotoFile.ListOptions = .init(),
        leavingOut leaveOut: ((FileError) -> Void)? = nil
    ) throws -> [PhotoFile] {
        guard !output.isEmpty else {
            throw PhotoError(
                .output, "the name of the output is empty; name a folder, or . for this one")
        }
        if let file = try file(paths, to: output, options) {
            try check([file])
            return [file]
        }
        guard try FileKind(at: output) != .file else {
            throw PhotoError(
                .output, file: output,
                "is a file; name a folder, or for one photo a file that ends in .jpg or .png")
        }
        let folder = output
        let files = try paths.flatMap { path in
            let isFolder = (try? isDirectory(path)) == true
            guard isFolder else { return [PhotoFile(path, below: nil, to: folder, options)] }
            return try photos(of: path, except: folder, options, leaveOut).map {
                PhotoFile($0, below: path, to: folder, options)
            }
        }
        var seen: Set<[UInt8]> = []
        let distinct = distinct(files.filter { seen.insert(Array($0.photo.utf8)).inserted })
        try check(distinct)
        if !options.keepsCopies { try checkNeighbors(distinct) }
        return distinct
    }

    /// Copies of photos that differ in their extensions alone, such as `k.png` and `k.bmp`, have
    /// different names: a copy in another format than its photo's keeps that, as in `k.bmp.png`.
    private static func distinct(_ files: [PhotoFile]) -> [PhotoFile] {
        let copies = Dictionary(grouping: files) { Array($0.output.utf8) }
        return files.map { file in
            guard copies[Array(file.output.utf8)]?.count != 1,
                let format = file.photo.filePath.extension,
                format != file.output.filePath.extension
            else { return file }
            return file.named(after: format)
        }
    }

    private func named(after photoExtension: String) -> PhotoFile {
        let suffix = ".\(output.filePath.extension ?? "")"
        let base = "\(output.dropLast(suffix.count)).\(photoExtension)"
        var other = self
        other.output = base + suffix
        other.strip = strip.map { _ in "\(base)-compare\(suffix)" }
        return other
    }

    /// Images of formats that are not read, in folders, by their extensions.
    ///
    /// - Parameter paths: as of ``list(_:to:_:leavingOut:)``; photos among them do not count, nor
    ///   do files whose paths are not UTF-8.
    /// - Throws: `FileError` if a folder cannot be read.
    public static func leftOut(
        _ paths: [String], isRecursive: Bool = false
    ) throws -> [String: Int] {
        let folders = paths.filter { (try? isDirectory($0)) == true }
        let files = try folders.flatMap {
            try listFiles(
                below: $0, extensions: otherImages, recursive: isRecursive, leavingOut: { _ in })
        }
        return Dictionary(grouping: files) { $0.filePath.extension?.lowercased() ?? "" }
            .mapValues(\.count)
    }

    /// The number of photos in subfolders of folders; those whose paths are not UTF-8 do not count.
    ///
    /// - Parameters:
    ///   - paths: as of ``list(_:to:_:leavingOut:)``.
    ///   - output: the folder of copies, whose photos do not count.
    /// - Throws: `FileError` if a folder cannot be read.
    public static func countInSubfolders(_ paths: [String], except output: String) throws -> Int {
        let folders = paths.filter { (try? isDirectory($0)) == true }
        func files(_ folder: String, recursive: Bool) throws -> Int {
            try listFiles(
                below: folder, extensions: PhotoReference.extensions, recursive: recursive,
                leavingOut: { _ in }
            )
            .count { !$0.utf8.starts(with: (output + "/").utf8) }
        }
        return try folders.reduce(0) {
            try $0 + files($1, recursive: true) - files($1, recursive: false)
        }
    }

    private static let otherImages: Set<String> = [
        "arw", "cr2", "cr3", "dng", "jp2", "jxl", "nef", "orf", "psd", "raf", "rw2",
    ]

    /// Whether a path has the name of a photo, or is a folder that is not a model.
    public static func isPhotos(_ path: String) -> Bool {
        if PhotoReference.hasExtension(path) { return true }
        let isModel = ModelFormat.all.contains { $0.isFolder && $0.isExtension(of: path) }
        return !isModel && (try? isDirectory(path)) == true
    }

    /// One photo and the file that is to be written; nil if `output` is a folder.
    private static func file(
        _ paths: [String], to output: String, _ options: Options
    ) throws -> PhotoFile? {
        let path = output.filePath
        let suffix = path.extension?.lowercased() ?? ""
        guard PhotoReference.extensions.contains(suffix), (try? isDirectory(output)) != true else {
            return nil
        }
        guard ImageFormat(path: output) != nil else {
            throw PhotoError(
                .output, file: output,
                "photos are not written as .\(suffix); name a .jpg or .png, or a folder")
        }
        guard paths.count == 1, (try? isDirectory(paths[0])) != true else {
            throw PhotoError(
                .output, file: output,
                "names one file, but several photos may be given; name a folder")
        }
        let isJPEG = suffix != "png"
        guard options.format.map({ ($0 == .jpeg) == isJPEG }) ?? true else {
            throw PhotoError(
                .output, file: output, "its name does not match the requested format")
        }
        let base = output.dropLast(suffix.count + 1)
        return PhotoFile(
            paths[0], output: output,
            strip: options.hasStrips ? "\(base)-compare.\(suffix)" : nil,
            format: isJPEG ? .jpeg() : .png())
    }

    private init(_ photo: String, below root: String?, to folder: String, _ options: Options) {
        let path = photo.filePath
        let isJPEG = ["jpg", "jpeg"].contains(path.extension?.lowercased())
        let writesJPEG = options.format.map { $0 == .jpeg } ?? isJPEG
        let suffix = writesJPEG ? "jpg" : "png"
        let name = root.map { photoName(photo, below: $0) } ?? path.stem ?? photo
        let base = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
        self.init(
            photo, output: "\(base).\(suffix)",
            strip: options.hasStrips ? "\(base)-compare.\(suffix)" : nil,
            format: writesJPEG ? .jpeg() : .png(), name: name)
    }

    private typealias Options = PhotoFile.ListOptions

    private static func photos(
        of root: String, except folder: String, _ options: Options,
        _ leaveOut: ((FileError) -> Void)?
    ) throws -> [String] {
        let found = try listFiles(
            below: root, extensions: PhotoReference.extensions, recursive: options.isRecursive,
            leavingOut: leaveOut)
        let excluded = ([folder] + options.excluded).compactMap { FileIdentity(of: $0) }
        let photos = found.filter { !lies($0, in: excluded, below: root) }
        guard photos.isEmpty else { return photos }
        let hint = options.isRecursive ? "" : "; subfolders are read with --recursive"
        throw PhotoError(
            .none, file: root, "contains no photos; \(ImageFormat.readable) files are read\(hint)")
    }

    /// Whether a photo below `root` is one of the excluded files, or in an excluded folder.
    private static func lies(
        _ photo: String, in excluded: [FileIdentity], below root: String
    ) -> Bool {
        var path = photo.filePath
        while path.string.count > root.count {
            if let identity = FileIdentity(of: path), excluded.contains(identity) { return true }
            path = path.removingLastComponent()
        }
        return false
    }

    /// In the folder of a photo, an image with the name of its copy may be another photo.
    private static func checkNeighbors(_ files: [PhotoFile]) throws {
        for file in files where (try? FileKind(at: file.output)) == .file {
            let folders = [file.photo, file.output].map { path in
                let folder = path.filePath.removingLastComponent().string
                return FileIdentity(of: folder.isEmpty ? "." : folder)
            }
            guard folders[0] == folders[1] else { continue }
            throw PhotoError(
                .output, file: file.output,
                "exists beside \(file.photo), and may be another photo; name another folder")
        }
    }

    /// No photo may be overwritten, and no two photos may be written to one file.
    private static func check(_ files: [PhotoFile]) throws {
        let inputs = Set(files.compactMap { FileIdentity(of: $0.photo) })
        // Names that Unicode calls equivalent are those of different files.
        var owners: [[UInt8]: String] = [:]
        for file in files {
            for path in [file.output, file.strip].compactMap({ $0 }) {
                if let other = owners.updateValue(file.photo, forKey: Array(path.utf8)) {
                    throw PhotoError(
                        .output,
                        "\(other) and \(file.photo) would both be written to \(path); "
                            + "colorize them into different folders")
                }
                if let identity = FileIdentity(of: path), inputs.contains(identity) {
                    throw PhotoError(
                        .output, file: path, "is the input itself; choose another output path")
                }
            }
        }
    }
}

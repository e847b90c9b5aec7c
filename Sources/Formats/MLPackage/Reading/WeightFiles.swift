import RetintFiles

/// The weight files of a package or a compiled model, each opened for the first value that refers
/// to it.
final class WeightFiles {
    /// The path of the package.
    private let package: String
    /// The manifest of a package; nil for a compiled model, which has none.
    private let manifest: Manifest?
    /// By the bytes of their names: those that Unicode calls equivalent are different files.
    private var files: [[UInt8]: WeightFile] = [:]
    private var shared = SharedBytes()

    private static let prefix = "@model_path/"
    private static let maximumCount = 16

    init(package: String, manifest: Manifest) {
        self.package = package
        self.manifest = manifest
    }

    /// - Parameter folder: that of a compiled model.
    init(folder: String) {
        package = folder
        manifest = nil
    }

    /// Checks that the files contain nothing but their records.
    func checkExtents() throws {
        for file in files.values { try file.checkExtent() }
    }

    func blob(
        file name: String, offset: UInt64, type: MILTensorType
    ) throws -> BlobReference {
        let blob = try file(named: name).blob(at: offset, for: type)
        if let rule = shared.take(blob.byteCount) {
            throw BrokenRule("", rule, "Export the model again, with each weight once.")
        }
        return blob
    }

    private func file(named name: String) throws -> WeightFile {
        let key = Array(name.utf8)
        if let file = files[key] { return file }
        try require(files.count < Self.maximumCount, "", "it refers to too many weight files")
        let file = try WeightFile(path: package + "/" + path(of: name))
        files[key] = file
        shared.add(file.file)
        return file
    }

    /// The path of a referenced file, which must be within the package.
    private func path(of name: String) throws -> String {
        let place = "weight file \"\(name)\""
        try require(
            name.hasPrefix(Self.prefix), place, "the name has to start with \(Self.prefix)")
        let relative = String(name.dropFirst(Self.prefix.count))
        try at(place) { try PackagePath.check(relative) }
        guard let manifest else {
            try at(place) { try PackagePath.checkLinks(root: package, path: relative) }
            return relative
        }
        let directory = manifest.modelPath.pathParts.dropLast().joined(separator: "/")
        let path = directory.isEmpty ? relative : directory + "/" + relative
        try require(manifest.covers(path), place, "the manifest has no item for it")
        try at(place) { try PackagePath.checkLinks(root: package, path: "Data/" + path) }
        return "Data/" + path
    }
}

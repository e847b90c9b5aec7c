import RetintCoreMLProto
import RetintFiles
import SwiftProtobuf
import SystemPackage

/// Writes the files of a package into a new folder.
struct PackageWriter {
    private let folder: FilePath
    private let weights: WeightSink

    private static let modelFolder = FilePath("Data").appending(Manifest.author)

    /// Writes a package in place of the one at `path`, or where nothing or an empty folder is.
    static func write(_ package: MLPackage, to path: FilePath) throws(MLPackageError) {
        try write(to: path) { weights in
            try package.check()
            return try ProtoModel(package, weights: weights)
        }
    }

    /// Writes several functions as one package.
    static func write(_ package: MultifunctionPackage, to path: FilePath) throws(MLPackageError) {
        try write(to: path) { weights in
            for (name, function) in package.functions {
                try at("function \"\(name)\"") { try function.check() }
            }
            return try ProtoModel(package, weights: weights)
        }
    }

    /// - Parameter model: makes the model file's message; puts long constants into the weight sink.
    private static func write(
        to path: FilePath, _ model: (WeightSink) throws -> ProtoModel
    ) throws(MLPackageError) {
        do {
            try AtomicFile.replace(path, content: content) { temporary in
                try PackageWriter(folder: FilePath(temporary)).write(model)
            }
        } catch {
            var error = MLPackageError(
                error, file: path.string, remedy: "Nothing was written or replaced.")
            // Errors in a temporary file are about the package as a whole.
            if error.kind == .unwritable { error.file = path.string }
            throw error
        }
    }

    /// The only allowed contents of a package: files of retint and coremltools, and of the Mac's
    /// Finder.
    static let content = FolderContent(marker: Manifest.fileName) { path in
        let names = path.pathParts
        let isItem = names.count > 2 && names[0] == "Data"
        switch names.last {
        case Manifest.fileName: return names.count == 1
        case "model.mlmodel", "FeatureDescriptions.json", "Metadata.json":
            return isItem && names.count == 3
        case ".DS_Store": return true
        case let name?:
            return isItem && names.count == 4 && names[2] == "weights" && name.hasSuffix(".bin")
        case nil: return false
        }
    }

    private init(folder: FilePath) {
        self.folder = folder
        let weightFolder = folder.pushing(Self.modelFolder).appending("weights")
        weights = WeightSink(folder: weightFolder)
    }

    private func write(_ model: (WeightSink) throws -> ProtoModel) throws {
        try createFolder(folder, withParents: false)
        try createFolder(folder.pushing(Self.modelFolder))
        let model = try model(weights)
        var options = BinaryEncodingOptions()
        options.useDeterministicOrdering = true
        let bytes: [UInt8] = try model.serializedBytes(options: options)
        try write(bytes, to: Self.modelFolder.appending("model.mlmodel"))
        try weights.file?.finish()
        try write([UInt8](manifest(for: bytes).encoded()), to: FilePath(Manifest.fileName))
    }

    /// Identifiers come from the contents, so that the same model gives the same package.
    private func manifest(for model: [UInt8]) -> Manifest {
        var content = ContentHash()
        content.update(model)
        let weightsIdentifier = weights.file.map { file in
            var hash = file.hash
            hash.update(Array("weights".utf8))
            return hash.identifier
        }
        return Manifest(modelIdentifier: content.identifier, weightsIdentifier: weightsIdentifier)
    }

    private func write(_ bytes: [UInt8], to name: FilePath) throws {
        let file = try FileWriter(creating: folder.pushing(name))
        try file.write(bytes)
        try file.finish()
    }
}

/// Takes the constants that are too long for the model file; creates the weight file for the first.
final class WeightSink {
    private let folder: FilePath
    fileprivate(set) var file: WeightFileWriter?

    init(folder: FilePath) { self.folder = folder }

    /// Writes a value's elements; returns the offset of their record.
    func append(_ value: MILValue) throws -> Int {
        if file == nil {
            try createFolder(folder)
            file = try WeightFileWriter(path: folder.appending("weight.bin"))
        }
        return try file?.append(value) ?? 0
    }
}

extension ContentHash {
    /// The first 16 bytes as a lowercase UUID of version 8, whose bits are free to choose.
    fileprivate var identifier: String {
        var digits = Array(Array(digest.prefix(16)).hexadecimal)
        digits[12] = "8"
        digits[16] = "8"
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return parts.map { String(digits[$0]) }.joined(separator: "-")
    }
}

extension MLPackage {
    /// Refuses a path with a folder that contains anything other than a package's files.
    ///
    /// - Throws: `FileError`.
    package static func checkReplaceable(_ path: some PathConvertible) throws(FileError) {
        try AtomicFile.checkReplaceable(path, PackageWriter.content)
    }
}

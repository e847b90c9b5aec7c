import RetintCoreMLProto
import RetintFiles
import SwiftProtobuf
import SystemPackage

/// Reads a folder as an `MLPackage`.
enum PackageReader {
    /// Parsing a malicious file may take a hundred times its size in memory. Real ones stay below
    /// 1 MB, because weights are in a separate file.
    private static let maximumModelSize = 8 << 20

    /// Reads one of the package's functions; the default if none is named.
    static func read(_ path: FilePath, function: String?) throws -> MLPackage {
        try checkKind(path)
        let package = path.string
        let manifest = try Manifest(package: package)
        let modelPath = "Data/" + manifest.modelPath
        try PackagePath.checkLinks(root: package, path: modelPath)
        let model = try parse(package + "/" + modelPath)
        return try at(modelPath) {
            let weights = WeightFiles(package: package, manifest: manifest)
            return try MLPackage(model, function: function, weights: weights)
        }
    }

    private static func parse(_ path: String) throws -> ProtoModel {
        let bytes = try readPlainFile(path, maximumBytes: maximumModelSize)
        do {
            return try ProtoModel(serializedBytes: bytes)
        } catch {
            throw MLPackageError(
                file: path, place: "", rule: "it is not a Core ML model (\(error))",
                remedy: "The file is damaged or incomplete: export or copy the package again.")
        }
    }

    /// Refuses things commonly mistaken for a package, with a separate error for each.
    private static func checkKind(_ path: FilePath) throws {
        let kind = try FileKind(at: path)
        try require(kind != .nothing, "", "there is no such package", "Check the path.")
        if kind == .file, path.extension == "mlmodel" { throw try ModelFileKind(at: path).refusal }
        try require(kind == .directory, "", "an .mlpackage is a directory", "Check the path.")
        try checkCompiled(path)
    }

    private static func checkCompiled(_ path: FilePath) throws {
        let isCompiled = try FileKind(at: path.appending("coremldata.bin")) == .file
        guard try isCompiled || MLPackage.isCompiled(path) else { return }
        throw BrokenRule(
            "", "a compiled model (.mlmodelc) is not an .mlpackage",
            "Read it as a compiled model, or give the .mlpackage that it was compiled from.")
    }
}

/// Reads a file of a package. Symbolic links are refused: they could lead out of the package.
func readPlainFile(_ path: String, maximumBytes: Int) throws(MLPackageError) -> [UInt8] {
    do throws(FileError) {
        return try RegularFile(path, followingLinks: false).contents(maximumBytes: maximumBytes)
    } catch {
        throw MLPackageError(error)
    }
}

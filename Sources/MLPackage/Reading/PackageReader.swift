import CoreMLProto
import Foundation
import SwiftProtobuf

/// From a directory to an `MLPackage`.
enum PackageReader {
    /// Parsing takes some hundred times the size of a hostile file in memory, at worst; honest ones
    /// stay below 1 MB, since weights stand elsewhere.
    private static let maximumModelSize = 32 << 20

    static func read(_ path: String) throws -> MLPackage {
        let package = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        try checkKind(package)
        let manifest = try Manifest(package: package)
        let modelPath = "Data/" + manifest.modelPath
        try PackagePath.checkLinks(root: package, path: modelPath)
        let model = try parse(package + "/" + modelPath)
        return try at(modelPath) {
            let weights = WeightFiles(package: package, manifest: manifest)
            return try MLPackage(model, weights: weights)
        }
    }

    private static func parse(_ path: String) throws -> ProtoModel {
        let data = try RegularFile.contents(of: path, limit: maximumModelSize)
        do {
            return try ProtoModel(serializedBytes: data)
        } catch {
            throw MLPackageError(
                file: path, place: "", rule: "it is not a Core ML model (\(error))",
                remedy: "The file is damaged or incomplete: export or copy the package again.")
        }
    }

    /// Tells apart what people take for a package.
    private static func checkKind(_ path: String) throws {
        let kind = RegularFile.kind(of: path)
        try require(kind != .nothing, "", "there is no such package", "Check the path.")
        try require(
            !(kind == .file && path.hasSuffix(".mlmodel")), "",
            "a single .mlmodel file is the old kind of model, not an ML Program",
            "Convert the network again to an .mlpackage for iOS15 or later.")
        try require(kind == .directory, "", "an .mlpackage is a directory", "Check the path.")
        let isCompiled =
            path.hasSuffix(".mlmodelc") || RegularFile.kind(of: path + "/coremldata.bin") == .file
        try require(
            !isCompiled, "", "a compiled model (.mlmodelc) cannot be read back",
            "Give the .mlpackage that it was compiled from.")
    }
}

import CoreMLProto
import Foundation
import SwiftProtobuf

/// From an `MLPackage` to a directory.
struct PackageWriter {
    private let directory: StagedDirectory
    private let weights: WeightSink

    private static let modelDirectory = "Data/" + Manifest.author

    static func write(_ package: MLPackage, to path: String) throws {
        let writer = PackageWriter(directory: try StagedDirectory(for: path))
        do {
            try writer.write(package)
            try writer.directory.commit()
        } catch {
            writer.directory.discard()
            throw error
        }
    }

    private init(directory: StagedDirectory) {
        self.directory = directory
        weights = WeightSink(directory: directory, name: Self.modelDirectory + "/weights")
    }

    private func write(_ package: MLPackage) throws {
        try directory.makeDirectory("Data")
        try directory.makeDirectory(Self.modelDirectory)
        let model = try ProtoModel(package, weights: weights)
        var options = BinaryEncodingOptions()
        options.useDeterministicOrdering = true
        let bytes: [UInt8] = try model.serializedBytes(options: options)
        try write(bytes, to: Self.modelDirectory + "/model.mlmodel")
        try weights.file?.finish()
        try write(manifest(for: bytes).encoded(), to: Manifest.fileName)
    }

    /// Identifiers come from the contents, so that the same model gives the same package.
    private func manifest(for model: [UInt8]) -> Manifest {
        var content = Fingerprint()
        content.combine(model)
        let weightsIdentifier = weights.file.map { file in
            var fingerprint = file.fingerprint
            fingerprint.combine(Array("weights".utf8))
            return fingerprint.identifier
        }
        return Manifest(modelIdentifier: content.identifier, weightsIdentifier: weightsIdentifier)
    }

    private func write(_ bytes: some DataProtocol, to name: String) throws {
        let handle = try StagedDirectory.createFile(directory.path + "/" + name)
        try handle.write(contentsOf: bytes)
        try handle.synchronize()
        try handle.close()
    }
}

/// Where constants go that are too long for the model file; makes the weight file when the first
/// one comes.
final class WeightSink {
    private let directory: StagedDirectory
    private let name: String
    fileprivate(set) var file: WeightFileWriter?

    init(directory: StagedDirectory, name: String) {
        self.directory = directory
        self.name = name
    }

    /// Writes a value's elements; returns where their record starts.
    func append(_ value: MILValue) throws -> Int {
        if file == nil {
            try directory.makeDirectory(name)
            file = try WeightFileWriter(path: "\(directory.path)/\(name)/weight.bin")
        }
        return try file?.append(value) ?? 0
    }
}

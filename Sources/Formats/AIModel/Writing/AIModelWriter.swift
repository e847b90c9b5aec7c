import RetintFiles
import RetintMIL
import RetintMLIRBytecode
import RetintMLPackage
import SystemPackage

/// Writes an `.aimodel` folder.
struct AIModelWriter {
    private let package: MLPackage
    private let producer: String

    /// That of resources in files that `coreai-core` writes.
    private static let alignment = 16

    init(_ package: MLPackage, producer: String) {
        (self.package, self.producer) = (package, producer)
    }

    func write(to path: FilePath) throws {
        try checkInterface()
        let (module, constants) = try ProgramWriter(package.program, producer: producer).write()
        try AtomicFile.replace(path, content: AIModelFolder.content) { temporary in
            let folder = FilePath(temporary)
            try createFolder(folder, withParents: false)
            let digest = try write(module, constants, in: folder)
            try write(digest, to: folder.appending(AIModelFolder.hash))
            // The names of values, by which retint finds their nodes, are not in the file.
            let metadata = AssetMetadata(
                package.metadata, producer: producer, ignoredKeys: [NodeRecord.key])
            try write(metadata.encoded(), to: folder.appending(AIModelFolder.metadata))
        }
    }

    /// The format supports only color images, which a colorizer's lightness is not.
    private func checkInterface() throws {
        for input in package.description.inputs {
            guard case .image = input.type else { continue }
            throw ConversionError(
                place: "input \(input.name)", rule: "an .aimodel cannot take this image",
                remedy: "Write an .onnx file, in which it is a tensor of pixels, and export that; "
                    + "or export the network with a tensor as its input.")
        }
    }

    /// Writes the program; returns its hash.
    private func write(
        _ module: BytecodeModule, _ constants: [MILValue], in folder: FilePath
    ) throws -> [UInt8] {
        let file = try FileWriter(creating: folder.appending(AIModelFolder.program))
        var hash = ContentHash()
        func put(_ bytes: [UInt8]) throws {
            hash.update(bytes)
            try file.write(bytes)
        }
        let resources = constants.enumerated().map { index, value in
            BytecodeWriter.Resource("weight_\(index)", byteCount: value.type.byteCount ?? 0)
        }
        var writer = BytecodeWriter(module)
        try writer.write(resources, alignment: Self.alignment, to: put) { index in
            try constants[index].forEachChunk(put)
        }
        try file.finish()
        return hash.digest
    }

    private func write(_ bytes: [UInt8], to path: FilePath) throws {
        let file = try FileWriter(creating: path)
        try file.write(bytes)
        try file.finish()
    }
}

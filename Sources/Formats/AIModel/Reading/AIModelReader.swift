import RetintFiles
import RetintMIL
import RetintMLIRBytecode
import RetintMLPackage
import SystemPackage

/// Reads an `.aimodel` folder.
struct AIModelReader {
    private let path: FilePath

    private static let maximumHashBytes = 1 << 10
    private static let hashedChunk = 1 << 20
    /// A larger program is refused before it is read.
    private static let maximumBytes = 1 << 34

    init(_ path: FilePath) { self.path = path }

    func package() throws -> MLPackage {
        let metadata = try AssetMetadata(contentsOf: path.appending(AIModelFolder.metadata))
        let file = try RegularFile(
            path.appending(AIModelFolder.program), followingLinks: false)
        guard file.byteCount <= Self.maximumBytes else {
            throw MLPackageError(
                file: file.path.string, place: "",
                rule: "it has \(file.byteCount) bytes; the limit is \(Self.maximumBytes)",
                remedy: "Export the model with smaller weights.")
        }
        try checkHash(of: file)
        let module = try ModuleReader(BytecodeFile(file))
        let graphs = try ReadGraphs(module)
        let reader = GraphReader(module, graphs.byName)
        try reader.read(graphs.main)
        let program = reader.builder.program.withoutUnusedOperations()
        let package = MLPackage(
            target: .iOS18,
            description: try description(of: program, metadata.modelMetadata), program: program)
        try package.check(remedy: "The file is damaged or uses an unsupported feature.")
        return package
    }

    /// Compares the program with its hash.
    private func checkHash(of file: RegularFile) throws {
        let hashPath = path.appending(AIModelFolder.hash)
        let stated = try RegularFile(hashPath, followingLinks: false)
            .contents(maximumBytes: Self.maximumHashBytes)
        var hash = ContentHash()
        for start in stride(from: 0, to: file.byteCount, by: Self.hashedChunk) {
            hash.update(try file.bytes(at: start, count: Self.hashedChunk))
        }
        guard hash.digest == stated else {
            throw MLPackageError(
                file: hashPath.string, place: "",
                rule: "it is not the SHA-256 of \(AIModelFolder.program)",
                remedy: "The model is damaged or incomplete: export or copy it again.")
        }
    }

    private func description(
        of program: MILProgram, _ metadata: ModelMetadata
    ) throws -> ModelDescription {
        let types = program.types
        func feature(_ name: String) throws -> Feature {
            guard let type = types[name], let shape = type.shape else {
                throw ConversionError(
                    place: "input or output \(name)", rule: "sizes that vary are not supported",
                    remedy: "Convert the network for one size.")
            }
            return Feature(name, .multiArray(ArrayFeature(type.dataType, shape)))
        }
        return ModelDescription(
            inputs: try program.inputs.map { try feature($0.name) },
            outputs: try program.outputs.map(feature), metadata: metadata)
    }
}

extension MILProgram {
    /// The program without operations whose results nothing uses.
    fileprivate func withoutUnusedOperations() -> MILProgram {
        var used = Set(outputs)
        var kept: [MILOperation] = []
        for operation in operations.reversed()
        where operation.outputs.contains(where: { used.contains($0.name) }) {
            kept.append(operation)
            for argument in operation.inputs.values.joined() {
                if let name = argument.name { used.insert(name) }
            }
        }
        var program = self
        program.operations = kept.reversed()
        return program
    }
}

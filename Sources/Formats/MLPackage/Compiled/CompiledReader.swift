import RetintFiles
import SystemPackage

extension MLPackage {
    /// Reads a compiled model (`.mlmodelc`) with an ML Program as a package in memory.
    ///
    /// The program is that of `model.mil`; which inputs are images, and the sizes that they take,
    /// are those of `metadata.json`. Without that file all are arrays. Of a model with several
    /// functions it reads `main`, or the one that is named after a `#`.
    ///
    /// - Throws: ``MLPackageError`` if it cannot be read, is damaged or was compiled from another
    ///   kind of model.
    public init(contentsOfCompiled path: some PathConvertible) throws(MLPackageError) {
        let place = FunctionPath(path)
        do {
            self = try CompiledReader(place.package).package(function: place.function)
        } catch {
            throw MLPackageError(
                error, file: place.package.string,
                remedy:
                    "The model is damaged or uses an unsupported feature: read the .mlpackage "
                    + "that it was compiled from.")
        }
    }

    /// Whether the path of a folder or of a function in it leads to a compiled model.
    ///
    /// - Throws: `FileError` if it cannot be examined.
    package static func isCompiled(_ path: some PathConvertible) throws(FileError) -> Bool {
        let folder = FunctionPath(path).package
        guard try isDirectory(folder) else { return false }
        if folder.extension?.lowercased() == "mlmodelc" { return true }
        return try FileKind(at: folder.appending(CompiledReader.program)) == .file
    }
}

/// Reads the folder of a compiled model.
struct CompiledReader {
    private let path: FilePath

    static let program = "model.mil"
    private static let maximumText = 64 << 20
    private static let maximumMetadata = 8 << 20

    init(_ path: FilePath) { self.path = path }

    func package(function: String?) throws -> MLPackage {
        try checkKind()
        let text = path.appending(Self.program).string
        let weights = WeightFiles(folder: path.string)
        let program = try at(Self.program) {
            try MILText(try readPlainFile(text, maximumBytes: Self.maximumText), weights: weights)
        }
        let chosen = try Self.function(function, of: program.functions)
        guard let target = DeploymentTarget(opset: chosen.opset) else {
            throw BrokenRule(Self.program, "the operation set \(chosen.opset) is not known")
        }
        try weights.checkExtents()
        let metadata = try metadata()
        try requireNoState(metadata?.stateSchema?.isEmpty ?? true, CompiledMetadata.name)
        let package = MLPackage(
            target: target, description: try Self.description(of: chosen.program, metadata),
            program: chosen.program)
        try package.check()
        return package
    }

    private static func function(
        _ name: String?, of functions: [MILText.Function]
    ) throws -> MILText.Function {
        let wanted = name ?? (functions.count == 1 ? functions[0].name : "main")
        guard let function = functions.first(where: { $0.name == wanted }) else {
            throw BrokenRule(
                "", "it has no function \"\(wanted)\"",
                "It has \(functions.map(\.name).joined(separator: ", ")): write one of them "
                    + "after the #.")
        }
        return function
    }

    private func checkKind() throws {
        func holds(_ name: String) throws -> Bool {
            try FileKind(at: path.appending(name)) == .file
        }
        guard try !holds(Self.program) else { return }
        guard try holds("model.espresso.net") else {
            throw BrokenRule("", "it has no \(Self.program)", "Check the path.")
        }
        throw BrokenRule(
            "", "a compiled neural network (model.espresso.net) cannot be read back",
            "Give the .mlmodel that it was compiled from.")
    }

    private func metadata() throws -> CompiledMetadata? {
        let file = path.appending(CompiledMetadata.name)
        guard try FileKind(at: file) == .file else { return nil }
        return try CompiledMetadata.read(
            try readPlainFile(file.string, maximumBytes: Self.maximumMetadata))
    }

    private static func description(
        of program: MILProgram, _ metadata: CompiledMetadata?
    ) throws -> ModelDescription {
        let types = program.types
        func features(
            _ names: [String], _ entries: [CompiledMetadata.Entry]?
        ) throws -> [Feature] {
            let known = Dictionary((entries ?? []).map { ($0.name, $0) }) { first, _ in first }
            return try names.map { name in
                let type = types[name] ?? MILTensorType(.float32)
                return try at("feature \"\(name)\"") {
                    if let entry = known[name] { return try entry.feature(type) }
                    return Feature(
                        name, .multiArray(ArrayFeature(type.dataType, type.shape ?? [])))
                }
            }
        }
        return ModelDescription(
            inputs: try features(program.inputs.map(\.name), metadata?.inputSchema),
            outputs: try features(program.outputs, metadata?.outputSchema),
            metadata: metadata?.model ?? ModelMetadata())
    }
}

extension DeploymentTarget {
    /// The target of an operation set in MIL's text form.
    fileprivate init?(opset: String) {
        let targets: [String: DeploymentTarget] = [
            "ios15": .iOS15, "ios16": .iOS16, "ios17": .iOS17, "ios18": .iOS18, "ios19": .iOS26,
            "ios26": .iOS26,
        ]
        guard let target = targets[opset.lowercased()] else { return nil }
        self = target
    }
}

public import RetintFiles

/// A Core ML package (`.mlpackage`) with an ML Program, read from disk or made in memory.
///
///     var package = try MLPackage(contentsOf: "colorizer.mlpackage")
///     package.metadata.author = "The photo lab"
///     try package.write(to: "colorizer.mlpackage")
///
/// A package that was read keeps its weight file open and reads the elements of a constant when
/// they are needed. It stays valid when the package on disk is replaced.
public struct MLPackage: Hashable, Sendable {
    /// The oldest system that the package runs on.
    public package(set) var target: DeploymentTarget
    package var description: ModelDescription
    package var program: MILProgram
    /// The names of the functions of the package that it was read from, the default first; empty
    /// if it has only one.
    public internal(set) var functionNames: [String] = []

    package init(
        target: DeploymentTarget, description: ModelDescription, program: MILProgram
    ) {
        self.target = target
        self.description = description
        self.program = program
    }

    /// The author's information about the model.
    public var metadata: ModelMetadata {
        get { description.metadata }
        set { description.metadata = newValue }
    }

    /// The key of the metadata of an ONNX file that names the inputs whose images had blue first.
    package static let blueFirstKey = "retint.blue_first"

    /// The inputs that are images with blue first.
    package var blueFirstInputs: [String] {
        description.inputs.filter {
            if case .image(let image) = $0.type { image.colorSpace == .bgr } else { false }
        }
        .map(\.name)
    }

    /// Whether an input is an image.
    package var takesImage: Bool {
        description.inputs.contains { if case .image = $0.type { true } else { false } }
    }
}

extension MLPackage {
    /// Reads a package and checks everything but the elements of its weights.
    ///
    /// Of a package with several functions it reads one: the default, or the one that is named
    /// after a `#`, as in `colorizer.mlpackage#large`.
    ///
    /// - Throws: ``MLPackageError`` if it cannot be read, is damaged or breaks a rule of the
    ///   format.
    public init(contentsOf path: some PathConvertible) throws(MLPackageError) {
        let place = FunctionPath(path)
        do {
            self = try PackageReader.read(place.package, function: place.function)
        } catch {
            throw MLPackageError(
                error, file: place.package.string,
                remedy:
                    "The package is damaged or of an unsupported kind: export it again.")
        }
    }

    /// Writes the package to a temporary folder next to `path`, then replaces the package at `path`
    /// with it in one step.
    ///
    /// Equal packages give equal files. If writing fails, `path` is left as it was.
    ///
    /// - Throws: ``MLPackageError`` if the package breaks a rule of the format, if something other
    ///   than a package or an empty folder is at `path`, or if the system refuses.
    public func write(to path: some PathConvertible) throws(MLPackageError) {
        try PackageWriter.write(self, to: path.filePath)
    }

    /// Checks the rules that every package must follow.
    ///
    /// - Parameter remedy: the default advice in errors.
    package func check(remedy: String) throws(MLPackageError) {
        do { try check() } catch { throw MLPackageError(error, file: "", remedy: remedy) }
    }

    func check() throws {
        try ProgramRules.check(program)
        try InterfaceRules.check(description, program, target: target)
    }
}

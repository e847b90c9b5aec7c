public import RetintFiles
import RetintMIL
import RetintMLIRBytecode
public import RetintMLPackage
import SystemPackage

extension MLPackage {
    /// Reads an `.aimodel`, the format of Apple's Core AI, as a package in memory.
    ///
    /// The dialect's operations are converted to those of Core ML. The result is checked like a
    /// package; the elements of its weights are read when they are needed.
    ///
    /// - Parameter path: The folder.
    /// - Throws: ``MLPackageError`` if it cannot be read, is damaged or of another version than is
    ///   supported; `ConversionError` if it uses an operation that is not supported.
    public init(contentsOfAIModel path: some PathConvertible) throws {
        let path = path.filePath
        do {
            self = try AIModelReader(path).package()
        } catch {
            throw Self.error(error, at: path)
        }
    }

    /// Whether there is the program of an `.aimodel` in the folder at a path.
    ///
    /// - Throws: `FileError` if it cannot be examined.
    package static func holdsAIModel(_ path: some PathConvertible) throws(FileError) -> Bool {
        try FileKind(at: path.filePath.appending(AIModelFolder.program)) == .file
    }

    /// Writes the package as an `.aimodel`, the format of Apple's Core AI, to a temporary folder
    /// beside `path`, then replaces the folder at `path` with it in one step.
    ///
    /// Equal packages give equal files. If writing fails, `path` is left as it was.
    ///
    /// - Parameters:
    ///   - path: The folder to write.
    ///   - producer: The name and version of the program that the file states to be from.
    /// - Throws: `ConversionError` for an operation, a size that varies, a type of elements or an
    ///   image that is not supported; ``MLPackageError`` if the package violates a rule of its own
    ///   format, if something other than an `.aimodel` or an empty folder is at `path`, or if the
    ///   system refuses.
    public func writeAIModel(
        to path: some PathConvertible, producer: String = "retint"
    ) throws {
        let path = path.filePath
        do {
            try check(remedy: "Nothing was written or replaced.")
            try AIModelWriter(self, producer: producer).write(to: path)
        } catch {
            throw Self.error(error, at: path)
        }
    }

    /// What of the package an `.aimodel` does not have, a sentence each.
    public var aiModelNotes: [String] {
        let sparse = program.operations.filter { $0.type == "constexpr_sparse_to_dense" }
        let names = sparse.flatMap { $0.outputs.map(\.name) }
        let labels = description.classifier.map { ["\($0.probabilities): \($0.leftOut)"] } ?? []
        return names.isEmpty
            ? labels
            : ["\(names.listed()): sparse weights are written dense, and decompressed"] + labels
    }

    /// Refuses a path with a folder that contains anything other than an `.aimodel`'s files.
    ///
    /// - Throws: `FileError`.
    package static func checkReplaceableByAIModel(
        _ path: some PathConvertible
    ) throws(FileError) {
        try AtomicFile.checkReplaceable(path, AIModelFolder.content)
    }

    /// An error with the path that it is about.
    private static func error(_ error: any Error, at path: FilePath) -> any Error {
        switch error {
        case var error as ConversionError:
            if error.file.isEmpty { error.file = path.string }
            return error
        case let error as BytecodeError:
            return MLPackageError(
                file: path.appending(AIModelFolder.program).string, place: "byte \(error.offset)",
                rule: error.rule, remedy: "The file is damaged or of an unsupported kind.")
        case let error as MLPackageError where error.file.isEmpty:
            return MLPackageError(
                file: path.string, place: error.place, rule: error.rule, remedy: error.remedy)
        case let error as FileError:
            return MLPackageError(error)
        default: return error
        }
    }
}

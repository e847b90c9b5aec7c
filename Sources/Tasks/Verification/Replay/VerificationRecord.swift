import RetintCheckpoints
public import RetintFiles
import RetintMLPackage
import RetintONNXReading

/// What a verification was run on, and how to run it again: saved with its results.
public struct VerificationRecord: Hashable, Sendable {
    /// The files of the model.
    public internal(set) var subject: [FileDigest]
    /// The other files that were read: those of the reference or the other model, the photos, and
    /// the files of inputs.
    public let inputs: [FileDigest]
    /// The arguments of `retint verify`, without those for what it writes. Paths are named as the
    /// files are.
    public let arguments: [String]

    /// Digests files as they are before a verification reads them.
    ///
    /// - Parameters:
    ///   - subject: the files of the model, such as ``files(ofModel:)``.
    ///   - inputs: the other files that are read.
    ///   - folder: the folder to which the names of files are relative: that of the results.
    ///   - arguments: how to run it again.
    /// - Throws: `FileError` if a file cannot be read.
    public init(
        subject: [String], inputs: [String], namedFrom folder: String, arguments: [String]
    ) throws {
        func digests(_ paths: [String]) throws -> [FileDigest] {
            var known: Set<String> = []
            return try paths.compactMap { path in
                let name = Self.name(of: path, from: folder)
                return known.insert(name).inserted ? try FileDigest(name: name, of: path) : nil
            }
        }
        (self.subject, self.inputs) = (try digests(subject), try digests(inputs))
        self.arguments = arguments
    }

    init(subject: [FileDigest], inputs: [FileDigest], arguments: [String]) {
        (self.subject, self.inputs, self.arguments) = (subject, inputs, arguments)
    }

    /// The name of a file: its path relative to a folder; absolute if they have nothing in common.
    public static func name(of path: String, from folder: String) -> String {
        RelativePath.leading(from: folder, to: path)
    }

    /// Where a file of this name is.
    public static func path(of name: String, from folder: String) -> String {
        folder.filePath.pushing(name.filePath).string
    }

    /// The folder of a file of results, from which it names other files.
    public static func folder(of results: String) -> String {
        let folder = results.filePath.removingLastComponent()
        return folder.isEmpty ? "." : folder.string
    }

    /// All files of a model: those of a package; an ONNX file and its files of external data; or
    /// the one file of a checkpoint.
    ///
    /// - Parameter path: the model; of a function of a package, the package counts.
    /// - Throws: `FileError` if there is no such file; `ONNXError` for a damaged ONNX file.
    public static func files(ofModel path: String) throws -> [String] {
        let whole = FunctionPath(path).package.string
        let isFolder = try FileKind(at: whole) == .directory
        guard !isFolder, try ModelFormat(ofNetworkAt: whole).isFor(.graphs) else {
            return try allFiles(at: whole)
        }
        return [whole] + (try ONNXModel.externalFiles(of: whole))
    }

    /// All files of a reference: an HDF5 file, or those in a folder of intermediate values.
    ///
    /// - Throws: `FileError` if there is no such file.
    public static func files(ofReference path: String) throws -> [String] {
        try allFiles(at: path)
    }
}

extension VerificationRecord {
    /// How the files of a run differ from those of this one.
    ///
    /// - Parameter other: the record of the other run.
    public func changes(to other: VerificationRecord) -> [FileChange] {
        FileChange.between(subject, other.subject) + FileChange.between(inputs, other.inputs)
    }

    /// A file that is not as it was.
    public struct FileChange: Hashable, Sendable, Encodable {
        /// How it differs.
        public enum Kind: String, Hashable, Sendable, Encodable {
            /// It has other bytes.
            case changed
            /// It is no longer read.
            case missing
            /// It was not read then.
            case added
        }

        /// The name of the file.
        public let name: String
        /// How it differs.
        public let kind: Kind

        fileprivate static func between(
            _ saved: [FileDigest], _ found: [FileDigest]
        ) -> [FileChange] {
            let digests = Dictionary(found.map { ($0.name, $0.sha256) }) { first, _ in first }
            let names = Set(saved.map(\.name))
            return saved.compactMap { file in
                guard let digest = digests[file.name] else {
                    return FileChange(name: file.name, kind: .missing)
                }
                return digest == file.sha256 ? nil : FileChange(name: file.name, kind: .changed)
            }
                + found.filter { !names.contains($0.name) }
                .map { FileChange(name: $0.name, kind: .added) }
        }
    }
}

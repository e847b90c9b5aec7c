public import RetintFiles

/// The formats of tensor files. A file is read by its content and written by its extension.
public enum TensorFileFormat: String, Hashable, Sendable, CaseIterable {
    /// HDF5, with a dataset for each tensor.
    case hdf5
    /// safetensors: a JSON header and the elements of all tensors.
    case safetensors
    /// The format of torch.save: a pickle and the elements of all tensors. Read-only.
    case pytorch

    /// A format joins with a case and a row.
    private var row: Row {
        switch self {
        case .hdf5:
            Row(
                article: "an", title: "HDF5", extensions: ["h5", "hdf5"],
                recognizes: HDF5Reader.recognizes, open: HDF5Reader.open,
                write: StateDict.writeHDF5)
        case .safetensors:
            Row(
                article: "a", title: "safetensors", extensions: ["safetensors"],
                recognizes: SafetensorsReader.recognizes, open: SafetensorsReader.open,
                write: StateDict.writeSafetensors, describesDamage: true)
        case .pytorch:
            Row(
                article: "a", title: "PyTorch", extensions: ["pth", "pt", "bin", "ckpt"],
                recognizes: PyTorchReader.recognizes, open: PyTorchReader.open, hasKeys: true)
        }
    }

    /// What is to be known of a format.
    private struct Row {
        let article: String
        let title: String
        let extensions: [String]
        /// Whether a file that begins with these bytes is of this format.
        let recognizes: (RegularFile, _ start: [UInt8]) throws(TensorFileError) -> Bool
        let open:
            (String, TensorFileLimits, _ key: String?) throws(TensorFileError) -> any TensorReader
        /// Nil if the format is only read.
        var write: ((StateDict) -> (String) throws(TensorFileError) -> Void)?
        /// Whether its reader describes what is wrong with a file that has its extension, but is of
        /// no format.
        var describesDamage = false
        /// Whether a file can hold several state dicts.
        var hasKeys = false
    }
}

extension TensorFileFormat {
    /// The file extensions of this format without the dot, the usual one first.
    public var extensions: [String] { row.extensions }

    /// The name of the format in messages.
    var title: String { row.title }

    /// Whether files of this format are written, too.
    public var isWritable: Bool { row.write != nil }

    /// Whether a file can hold several state dicts, each under a key.
    package var hasKeys: Bool { row.hasKeys }

    /// The format of a path's extension; nil for any other extension.
    public init?(extensionOf path: String) {
        let lowercased = path.lowercased()
        let match = Self.allCases.first { format in
            format.extensions.contains { lowercased.hasSuffix(".\($0)") }
        }
        guard let match else { return nil }
        self = match
    }

    /// The format of the file at `path`.
    ///
    /// - Throws: ``TensorFileError`` if it is in none of the formats, or cannot be read.
    public init(ofFileAt path: some PathConvertible) throws(TensorFileError) {
        try self.init(of: RegularFile.open(path))
    }

    init(of file: RegularFile) throws(TensorFileError) {
        let path = file.path.string
        let start = try file.head(SafetensorsHeader.shortestFile)
        guard !start.isEmpty else {
            let titles = Self.alternatives(Self.allCases.map(\.title))
            throw TensorFileError(.otherFormat, path: path, "is empty, not an \(titles) file")
        }
        for format in Self.allCases where try format.row.recognizes(file, start) {
            self = format
            return
        }
        guard !start.starts(with: NumPyHeader.magic) else {
            throw TensorFileError(
                .otherFormat, path: path, NumPyArchive.notWeights("an array of NumPy (.npy)"))
        }
        guard let named = Self(extensionOf: path), named.row.describesDamage else {
            let titles = Self.alternatives(
                Self.allCases.map { "\($0.row.article) \($0.row.title)" })
            throw TensorFileError(.otherFormat, path: path, "is not \(titles) file")
        }
        self = named
    }

    /// `HDF5, safetensors or PyTorch`.
    private static func alternatives(_ words: [String]) -> String {
        words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1]
    }
}

// MARK: Reading and writing

extension TensorFileFormat {
    /// Opens a file of this format.
    func open(
        _ path: String, _ limits: TensorFileLimits, key: String?
    ) throws(TensorFileError) -> any TensorReader {
        guard key == nil || hasKeys else {
            throw TensorFileError(
                .notFound, path: path,
                "is \(row.article) \(title) file, whose tensors have no key; omit it")
        }
        return try row.open(path, limits, key)
    }

    /// Writes a state dict as a file of this format.
    func write(_ state: StateDict, to path: String) throws(TensorFileError) {
        guard let write = row.write else {
            throw TensorFileError(
                .unwritable, path: path,
                "\(title)'s own format is read but not written; use .safetensors or .h5")
        }
        try write(state)(path)
    }
}

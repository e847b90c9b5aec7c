public import RetintFiles

/// The formats of tensor files. A file is read by its content and written by its extension.
public enum TensorFileFormat: String, Hashable, Sendable, CaseIterable {
    /// HDF5, with a dataset for each tensor.
    case hdf5
    /// safetensors: a JSON header and the elements of all tensors.
    case safetensors
    /// The format of torch.save: a pickle and the elements of all tensors. Read-only.
    case pytorch

    /// The file extensions of this format without the dot, the usual one first.
    public var extensions: [String] {
        switch self {
        case .hdf5: ["h5", "hdf5"]
        case .safetensors: ["safetensors"]
        case .pytorch: ["pth", "pt", "bin", "ckpt"]
        }
    }

    /// The name of the format in messages.
    var title: String {
        switch self {
        case .hdf5: "HDF5"
        case .safetensors: "safetensors"
        case .pytorch: "PyTorch"
        }
    }

    /// Whether files of this format can also be written.
    public var isWritable: Bool { self != .pytorch }

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
            throw TensorFileError(
                .otherFormat, path: path, "is empty, no HDF5, safetensors or PyTorch file")
        }
        if SafetensorsHeader.begins(start) {
            self = .safetensors
        } else if try Self.hasHDF5Signature(file) {
            self = .hdf5
        } else if try PyTorchSignature(of: file) != nil {
            self = .pytorch
        } else if Self(extensionOf: path) == .safetensors {
            // So that the error describes the damage.
            self = .safetensors
        } else {
            throw TensorFileError(
                .otherFormat, path: path, "is not an HDF5, a safetensors or a PyTorch file")
        }
    }

    /// Whether HDF5's signature is at the start or, after a user block, at 512, 1024, 2048 …
    private static func hasHDF5Signature(_ file: RegularFile) throws(TensorFileError) -> Bool {
        let signature = Array("\u{89}HDF\r\n\u{1a}\n".unicodeScalars.map { UInt8($0.value) })
        var offset = 0
        while offset < file.byteCount {
            if try file.head(signature.count, at: offset) == signature { return true }
            offset = max(512, offset * 2)
        }
        return false
    }
}

import CHDF5

/// The formats of files of tensors, and the one place that tells them apart: a file that is read by
/// its first bytes, a file that is written by its name.
public enum TensorFileFormat: String, Hashable, Sendable, CaseIterable {
    case hdf5
    case safetensors

    /// The extensions of files of this format, without the dot; the first is the usual one.
    public var extensions: [String] {
        switch self {
        case .hdf5: ["h5", "hdf5"]
        case .safetensors: ["safetensors"]
        }
    }

    /// The format that a path asks for by its extension; nil for another extension.
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
    /// - Throws: ``TensorFileError`` if it is of neither or cannot be read.
    public init(ofFileAt path: String) throws(TensorFileError) {
        try self.init(of: RegularFile(path: path))
    }

    init(of file: RegularFile) throws(TensorFileError) {
        let path = file.path
        let start = try file.bytes(at: 0, count: SafetensorsHeader.shortestFile)
        guard !start.isEmpty else {
            throw TensorFileError(
                .otherFormat, path: path, "is empty, neither an HDF5 nor a safetensors file")
        }
        if SafetensorsHeader.begins(start) {
            self = .safetensors
        } else if HDF5Library.run({ H5Fis_hdf5(path) > 0 }) {
            // A user block may stand before the signature; libhdf5 looks for it.
            self = .hdf5
        } else {
            self = try Self.claimed(by: path, start: start)
        }
    }

    /// A damaged file is told what is wrong with it as what its name says that it is.
    private static func claimed(
        by path: String, start: [UInt8]
    ) throws(TensorFileError) -> TensorFileFormat {
        let isPyTorch = start.starts(with: [0x50, 0x4b, 3, 4]) || start.first == 0x80
        if !isPyTorch, TensorFileFormat(extensionOf: path) == .safetensors { return .safetensors }
        let way =
            isPyTorch
            ? ", but what torch.save writes; convert it with Scripts/python/export_pytorch.py"
            : " and not a safetensors file either"
        throw TensorFileError(.otherFormat, path: path, "is not an HDF5 file\(way)")
    }
}

public import RetintExport
public import RetintFiles
import RetintRuntime
import RetintTensorFiles
import RetintTensors

extension VerificationInputs {
    /// One run for each file of tensors.
    ///
    /// HDF5, safetensors and PyTorch files hold the inputs by name, in HDF5 also as `inputs/NAME`;
    /// a model's only input may have any name in a file of one tensor, as it has in a NumPy file.
    /// An archive of NumPy (`.npz`) holds several by name.
    ///
    /// - Parameters:
    ///   - paths: the files; a folder stands for the files in it, sorted by name.
    ///   - interface: the model's.
    /// - Throws: `FileError` or `TensorFileError` if a file cannot be read; ``VerificationError``
    ///   if it lacks an input, or the shapes differ from those of the first file.
    public init(
        files paths: [some PathConvertible], for interface: ModelInterface
    ) throws {
        let files = try paths.flatMap { try Self.files(at: $0) }
        guard let first = files.first, !interface.inputs.isEmpty else {
            throw VerificationError(
                .badReference, path: paths.first?.filePath.string ?? "",
                "has no values of the model's inputs")
        }
        let shapes = try Self.tensors(in: first, interface).map(\.data.shape)
        self.init(count: files.count) { index in
            let tensors = try Self.tensors(in: files[index], interface)
            for (tensor, shape) in zip(tensors, shapes) where tensor.data.shape != shape {
                throw VerificationError(
                    .badReference, path: files[index], place: tensor.name,
                    "has shape \(tensor.data.shape), but \(shape) in \(first); verify files of "
                        + "other shapes apart")
            }
            return Input(labels: Self.labels(files[index], tensors), tensors: tensors)
        }
    }

    private static let (numPyExtension, numPyArchiveExtension) = ("npy", "npz")

    /// Whether there are files of tensors at a path, by the extensions of names: a file, or one in
    /// a folder.
    ///
    /// - Throws: `FileError` if a folder cannot be read.
    public static func hasTensors(at path: some PathConvertible) throws -> Bool {
        guard try FileKind(at: path.filePath.string) != .directory else {
            return try !files(at: path).isEmpty
        }
        return extensions.contains(path.filePath.extension?.lowercased() ?? "")
    }

    private static let extensions = Set(
        TensorFileFormat.allCases.flatMap(\.extensions)
            + [numPyExtension, numPyArchiveExtension])

    /// The files of inputs at a path: a file, or those in a folder, sorted by name.
    ///
    /// - Throws: `FileError` if a folder cannot be read.
    public static func files(at path: some PathConvertible) throws -> [String] {
        let path = path.filePath.string
        guard try FileKind(at: path) == .directory else { return [path] }
        return try listFiles(below: path, extensions: extensions)
    }

    /// A label for each image of the first input.
    private static func labels(_ path: String, _ tensors: [NamedTensor]) -> [String] {
        let shape = tensors[0].data.shape
        guard shape.rank == 4, shape[0] > 1 else { return [path] }
        return (1...shape[0]).map { "\(path), image \($0)" }
    }

    private static func tensors(
        in path: String, _ interface: ModelInterface
    ) throws -> [NamedTensor] {
        let names = interface.inputs.map(\.name)
        let isNumPy = path.hasSuffix(".\(numPyExtension)")
        let stored: [(name: String, tensor: StoredTensor)] =
            if isNumPy {
                [(names[0], try NumPyFile(path).read())]
            } else if path.hasSuffix(".\(numPyArchiveExtension)") {
                try NumPyArchive.read(path)
            } else {
                try StateDict(contentsOf: path).map { ($0, $1) }
            }
        if isNumPy, names.count > 1 {
            throw VerificationError(
                .mismatch, path: path,
                "has one tensor, but the model takes \(names.joined(separator: ", ")); write an "
                    + "archive with an array for each (numpy.savez)")
        }
        if names.count == 1, stored.count == 1 {
            return [NamedTensor(names[0], try values(of: stored[0].tensor, path, names[0]))]
        }
        return try names.map { name in
            let found = stored.first { [name, "inputs.\(name)"].contains($0.name) }
            guard let tensor = found?.tensor else {
                let known = stored.prefix(8).map(\.name).joined(separator: ", ")
                throw VerificationError(
                    .badReference, path: path, place: name,
                    "there is no such tensor for the model's input; the file has \(known)")
            }
            return NamedTensor(name, try values(of: tensor, path, name))
        }
    }

    private static func values(
        of tensor: StoredTensor, _ path: String, _ name: String
    ) throws -> TensorData {
        guard let data = tensor.values else {
            throw VerificationError(
                .badReference, path: path, place: name,
                "has integers above 2^24, which float32 does not hold")
        }
        if let found = NonFinite(in: data) {
            throw VerificationError(.badReference, path: path, place: name, "\(found.text)")
        }
        return data
    }
}

extension StoredTensor {
    /// The elements as floats; nil if an integer is too large to be one.
    var values: TensorData? {
        guard let integers else { return tensorData }
        guard integers.allSatisfy({ $0.magnitude <= 1 << 24 }) else { return nil }
        return TensorData(shape: shape, scalars: integers.map { Float($0) })
    }
}

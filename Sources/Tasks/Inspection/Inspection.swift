import RetintCheckpoints
import RetintFiles

/// The contents of a file, without the values of its tensors: the result of
/// ``init(of:placement:key:)``.
public enum Inspection: Encodable, Sendable {
    /// A retint checkpoint.
    case checkpoint(CheckpointInspection)
    /// A Core ML package.
    case package(PackageInspection)
    /// An ONNX file.
    case onnx(ONNXInspection)
    /// An HDF5, safetensors or PyTorch file that is not a checkpoint.
    case tensors(TensorFileInspection)

    /// Encodes the case's value as the object itself; its key `kind` distinguishes the cases.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .checkpoint(let inspection): try inspection.encode(to: encoder)
        case .package(let inspection): try inspection.encode(to: encoder)
        case .onnx(let inspection): try inspection.encode(to: encoder)
        case .tensors(let inspection): try inspection.encode(to: encoder)
        }
    }
}

extension Inspection {
    /// Reads the contents of a checkpoint, a package, an ONNX file, or another file of tensors.
    ///
    /// - Parameters:
    ///   - path: the file, or the folder of a package.
    ///   - placement: whether to report which operations of a package the Neural Engine is said to
    ///     refuse; other files have no placement.
    ///   - key: the key of the state dict in a PyTorch file that holds several.
    /// - Throws: `FileError` if there is no such file; `TensorFileError`, `CheckpointError`,
    ///   `MLPackageError` or `ONNXError` if it is damaged.
    public init(
        of path: some PathConvertible, placement: Bool = false, key: String? = nil
    ) throws {
        let file = path.filePath.string
        // Only a PyTorch file has keys: any other file is refused.
        guard key == nil else {
            self = .tensors(try TensorFileInspection(path: file, key: key))
            return
        }
        let format = try ModelFormat(ofFileAt: file)
        self =
            switch format.content {
            case .package(let read):
                .package(
                    try PackageInspection(read(file), format, path: file, withPlacement: placement))
            case .checkpoint:
                .checkpoint(try CheckpointInspection(Checkpoint(contentsOf: file), path: file))
            case .graph: .onnx(try ONNXInspection(path: file))
            case .tensors: .tensors(try TensorFileInspection(path: file, key: nil))
            }
    }
}

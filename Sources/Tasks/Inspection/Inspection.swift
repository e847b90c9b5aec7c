import RetintAIModel
import RetintCheckpoints
import RetintFiles
import RetintMLPackage

/// The contents of a file, without the values of its tensors: the result of
/// ``inspect(_:placement:key:)``.
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

/// Reads the contents of a checkpoint, a package, an ONNX file, or another file of tensors.
///
/// - Parameters:
///   - path: the file, or the folder of a package.
///   - placement: whether to report which operations of a package the Neural Engine is said to
///     refuse; other files have no placement.
///   - key: the key of the state dict in a PyTorch file that holds several.
/// - Throws: `FileError` if there is no such file; `TensorFileError`, `CheckpointError`,
///   `MLPackageError` or `ONNXError` if it is damaged.
public func inspect(
    _ path: some PathConvertible, placement: Bool = false, key: String? = nil
) throws -> Inspection {
    let file = path.filePath.string
    // Only a PyTorch file has keys: any other file is refused.
    guard key == nil else { return .tensors(try TensorFileInspection(path: file, key: key)) }
    if try MLPackage.isPackage(file) {
        let package = try MLPackage(contentsOfModel: file)
        return .package(try PackageInspection(package, path: file, withPlacement: placement))
    }
    if Checkpoint.isONNX(file) { return .onnx(try ONNXInspection(path: file)) }
    if Checkpoint.isCheckpoint(file) {
        return .checkpoint(try CheckpointInspection(Checkpoint(contentsOf: file), path: file))
    }
    return .tensors(try TensorFileInspection(path: file, key: nil))
}

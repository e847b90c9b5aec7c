import Checkpoints
import Files
import MLPackage

/// What a file contains, without the values of its tensors: the result of
/// ``inspect(_:placement:)``.
public enum Inspection: Encodable, Sendable {
    /// A checkpoint of retint.
    case checkpoint(CheckpointInspection)
    /// A Core ML package.
    case package(PackageInspection)
    /// An HDF5 or safetensors file that is not a checkpoint.
    case tensors(TensorFileInspection)

    /// Encodes the case's value as the object itself; its key `kind` tells them apart.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .checkpoint(let inspection): try inspection.encode(to: encoder)
        case .package(let inspection): try inspection.encode(to: encoder)
        case .tensors(let inspection): try inspection.encode(to: encoder)
        }
    }
}

/// Reads what a checkpoint, a package, or another HDF5 or safetensors file contains.
///
/// - Parameters:
///   - path: the file, or the folder of a package.
///   - placement: whether to report which operations of a package the Neural Engine is said to
///     refuse; other files have no placement.
/// - Throws: `FileError` if there is no such file; `TensorFileError`, `CheckpointError` or
///   `MLPackageError` if it is damaged.
public func inspect(_ path: some PathConvertible, placement: Bool = false) throws -> Inspection {
    let file = path.filePath.string
    if try isDirectory(file) {
        let package = try MLPackage(contentsOf: file)
        return .package(try PackageInspection(package, path: file, withPlacement: placement))
    }
    if Checkpoint.isCheckpoint(file) {
        return .checkpoint(try CheckpointInspection(Checkpoint(contentsOf: file), path: file))
    }
    return .tensors(try TensorFileInspection(path: file))
}

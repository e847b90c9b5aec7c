public import Checkpoints

/// Writes a checkpoint as a Core ML package to `path`, replacing one that stands there.
///
/// The package computes a and b, [1, 2, H, W] in −110…110, from L, [1, 1, H, W] in 0…100, at one
/// size. The same checkpoint and options give the same bytes.
///
/// - Throws: ``ConversionError`` for a size that the architecture does not take, weights that are
///   missing, not finite or beyond float16; what `Checkpoint.makeColorizer()` throws; an error
///   that names the file if it cannot be written. Nothing is written then.
@discardableResult
public func exportPackage(
    _ checkpoint: Checkpoint, to path: String, options: ExportOptions = ExportOptions()
) throws -> ExportSummary {
    let source = ExportSource(
        architecture: checkpoint.architecture, options: checkpoint.options,
        colorizer: try checkpoint.makeColorizer(), variables: checkpoint.variables)
    return try exportPackage(source, to: path, options: options)
}

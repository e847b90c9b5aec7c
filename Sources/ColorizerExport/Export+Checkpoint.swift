public import Checkpoints
import Foundation
import MIL
public import MLPackage

extension Checkpoint {
    /// The Core ML package of this checkpoint's network, in memory; `write(to:)` writes it.
    ///
    /// The package computes a and b, [1, 2, H, W] in −110…110, from L, [1, 1, H, W] in 0…100, unless
    /// options say otherwise. Equal checkpoints and options give equal packages.
    ///
    /// - Throws: ``ConversionError`` for options that do not fit together or the architecture, and
    ///   for weights that are missing, not finite or beyond float16; what `makeColorizer()` throws.
    public func package(_ options: ExportOptions = ExportOptions()) throws -> MLPackage {
        try makePackage(try ExportSource(self), options)
    }
}

/// Writes a checkpoint as a Core ML package to `path`, replacing one that stands there.
///
/// The package computes a and b, [1, 2, H, W] in −110…110, from L, [1, 1, H, W] in 0…100, unless
/// options say otherwise. The same checkpoint and options give the same bytes.
///
/// - Throws: ``ConversionError`` for options that do not go together or with the architecture,
///   weights that are missing, not finite or beyond float16; what `Checkpoint.makeColorizer()`
///   throws; an error that names the file if it cannot be written. Nothing is written then.
@discardableResult
public func exportPackage(
    _ checkpoint: Checkpoint, to path: String, options: ExportOptions = ExportOptions()
) throws -> ExportSummary {
    try exportPackage(try ExportSource(checkpoint), to: path, options: options)
}

extension ExportSource {
    /// The network as it runs on devices, with re-parameterised convolutions folded.
    ///
    /// - Throws: what `Checkpoint.makeColorizer()` throws.
    package init(_ original: Checkpoint) throws {
        let checkpoint = try original.folded()
        self.init(
            architecture: checkpoint.architecture, options: checkpoint.options,
            colorizer: try checkpoint.makeColorizer(), variables: checkpoint.variables,
            figures: checkpoint.training.map(Self.figures) ?? [:])
    }

    /// The numbers that stand at the top of the trainer's JSON: `step`, `best_loss`.
    private static func figures(_ training: String) -> [String: String] {
        let object = try? JSONSerialization.jsonObject(with: Data(training.utf8))
        let values = object as? [String: Any] ?? [:]
        return values.compactMapValues { value in
            if let integer = value as? Int { return "\(integer)" }
            return (value as? Double).map { "\($0)" }
        }
    }
}

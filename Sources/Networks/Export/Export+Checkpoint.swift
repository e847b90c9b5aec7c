import Foundation
public import RetintCheckpoints
public import RetintFiles
import RetintMIL
public import RetintMLPackage

extension Checkpoint {
    /// The Core ML package of this checkpoint's network, in memory; `write(to:)` writes it.
    ///
    /// The package computes a and b, [1, 2, H, W] in −110…110, from L, [1, 1, H, W] in 0…100,
    /// unless options say otherwise. Equal checkpoints and options give equal packages.
    ///
    /// - Throws: ``ConversionError`` for options that are inconsistent or not supported by the
    ///   architecture, and for weights that are missing, not finite or outside the range of
    ///   float16; the errors of `NetworkDescription.make()`.
    public func package(_ options: ExportOptions = ExportOptions()) throws -> MLPackage {
        try ExportSource(self).package(options).package
    }
}

extension Checkpoint {
    /// Writes a checkpoint as a Core ML package to `path`, replacing an existing one.
    ///
    /// The package computes a and b, [1, 2, H, W] in −110…110, from L, [1, 1, H, W] in 0…100,
    /// unless options say otherwise. The same checkpoint and options give the same bytes.
    ///
    /// - Throws: ``ConversionError`` for options that are inconsistent or not supported by the
    ///   architecture, and for weights that are missing, not finite or outside the range of
    ///   float16; the errors of `NetworkDescription.make()`; an error that names the file if it
    ///   cannot be written. If it throws, nothing is written.
    @discardableResult
    public func export(
        to path: some PathConvertible,
        options: ExportOptions = ExportOptions()
    ) throws -> ExportSummary {
        try ExportSource(self).export(
            to: path.filePath.string, options: options)
    }
}

extension ExportSource {
    /// The checkpoint's network for inference, with re-parameterized convolutions folded.
    ///
    /// - Throws: the errors of `NetworkDescription.make()`.
    public init(_ original: Checkpoint) throws {
        let (checkpoint, colorizer) = try original.madeForInference()
        self.init(
            checkpoint.network, colorizer: colorizer, variables: checkpoint.variables,
            figures: checkpoint.training.map(Self.figures) ?? [:])
    }

    /// The numbers at the top level of the trainer's JSON, such as `step` and `best_loss`.
    private static func figures(_ training: String) -> [String: String] {
        let object = try? JSONSerialization.jsonObject(with: Data(training.utf8))
        let values = object as? [String: Any] ?? [:]
        return values.compactMapValues { value in
            if let integer = value as? Int { return "\(integer)" }
            return (value as? Double).map { "\($0)" }
        }
    }
}

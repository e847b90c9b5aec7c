import Colorizers
import MIL
import MLPackage
import TensorGraph

/// What a package of retint says of how its numbers stand for lightness and color.
///
/// A raised model takes lightness and gives a and b in −110…110 whatever the package has: what is
/// between the two is part of the graph.
struct StatedNormalization {
    private let normalization: ExportOptions.Normalization
    /// What the package makes of pixels; nil where it takes none, or usual ones.
    private let pixels: ExportOptions.ImageScaling?
    /// Whether a raised model is given pixels, whose 0…255 stand for L in 0…100.
    private let isGivenPixels: Bool

    /// - Throws: ``ConversionError`` for metadata that cannot be what retint wrote.
    init(_ package: MLPackage) throws {
        let keys = package.description.metadata.userDefined
        normalization = try Self.normalization(keys)
        pixels = try package.takesImage ? Self.pixelScaling(keys) : nil
        isGivenPixels = package.takesImage && pixels == nil
    }

    /// What L (0…100) is multiplied by to give the raised model's input.
    var lightnessScale: Float { isGivenPixels ? 2.55 : 1 }

    /// The package's input from what a raised model is given; of the networks' own arithmetic, so
    /// that no digit is lost.
    func input(_ value: Tensor) -> Tensor {
        if isGivenPixels { return value }
        let taken = normalization == .inside ? value : LabScaling.normalize(lightness: value)
        return pixels.map { (taken - $0.bias) / $0.scale } ?? taken
    }

    /// What a raised model gives for an output of the package.
    func output(_ value: Tensor) -> Tensor {
        normalization == .inside ? value : LabScaling.denormalize(ab: value)
    }
}

extension StatedNormalization {
    /// Packages of others say nothing of it: they are taken to have it inside.
    private static func normalization(
        _ keys: [String: String]
    ) throws -> ExportOptions.Normalization {
        guard let word = keys[MetadataKey.normalization] else { return .inside }
        guard let normalization = ExportOptions.Normalization(rawValue: word) else {
            throw damaged(MetadataKey.normalization, "it is \"\(word)\", not inside or outside")
        }
        return normalization
    }

    private static func pixelScaling(
        _ keys: [String: String]
    ) throws -> ExportOptions.ImageScaling? {
        guard keys[MetadataKey.imageScale] != nil || keys[MetadataKey.imageBias] != nil else {
            return nil
        }
        let scale = try number(MetadataKey.imageScale, keys)
        guard scale != 0 else { throw damaged(MetadataKey.imageScale, "it is 0") }
        return ExportOptions.ImageScaling(
            scale: scale, bias: try number(MetadataKey.imageBias, keys))
    }

    private static func number(_ key: String, _ keys: [String: String]) throws -> Float {
        guard let number = Float(keys[key] ?? ""), number.isFinite else {
            throw damaged(key, "\"\(keys[key] ?? "")\" is no number")
        }
        return number
    }

    static func damaged(_ key: String, _ rule: String) -> ConversionError {
        ConversionError(
            place: "metadata \(key)", rule: rule,
            remedy: "The package was changed after retint wrote it: export it again.")
    }
}

extension MLPackage {
    var takesImage: Bool {
        description.inputs.contains { if case .image = $0.type { true } else { false } }
    }
}

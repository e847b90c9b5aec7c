import RetintArchitectures
import RetintGraph
import RetintMIL
import RetintMLPackage

/// How a package represents lightness and color, according to its metadata.
///
/// A raised model always takes L and returns a and b in −110…110. The conversion to and from the
/// package's representation is part of the graph.
struct StatedNormalization {
    let normalization: ExportOptions.Normalization
    /// The package's pixel scaling; nil if it does not take an image, or takes one with default
    /// scaling.
    let pixels: ExportOptions.ImageScaling?
    /// What heights and widths must be multiples of; nil if the package does not state it.
    let sizeMultiple: Int?
    /// Whether the raised model takes pixel values 0…255, which represent L in 0…100.
    private let isGivenPixels: Bool

    /// - Throws: ``ConversionError`` for invalid metadata.
    init(_ package: MLPackage) throws {
        let keys = package.description.metadata.userDefined
        normalization = try Self.normalization(keys)
        pixels = try package.takesImage ? Self.pixelScaling(keys) : nil
        isGivenPixels = package.takesImage && pixels == nil
        sizeMultiple = try Self.sizeMultiple(keys)
    }

    /// The factor from L (0…100) to the raised model's input.
    var lightnessScale: Float { isGivenPixels ? LabScaling.pixelsPerLightness : 1 }

    /// From elements of the package's input to L in 0…100.
    var lightness: ModelInterface.Scaling {
        if isGivenPixels { return .init(scale: LabScaling.lightnessPerPixel) }
        let (scale, bias) = (pixels?.scale ?? 1, pixels?.bias ?? 0)
        guard normalization == .outside else { return .init(scale: scale, bias: bias) }
        let range = LabScaling.lightnessRange
        return .init(scale: scale * range, bias: bias * range + LabScaling.lightnessCenter)
    }

    /// From elements of the package's outputs to a and b in −110…110.
    var colors: ModelInterface.Scaling {
        normalization == .outside ? .init(scale: LabScaling.colorRange) : .identity
    }

    /// The package's input for the raised model's input, computed exactly as the
    /// networks do, so that no precision is lost.
    func input(_ value: Tensor) -> Tensor {
        if isGivenPixels { return value }
        let scaled = normalization == .inside ? value : LabScaling.normalize(lightness: value)
        return pixels.map { (scaled - $0.bias) / $0.scale } ?? scaled
    }

    /// The raised model's output for an output of the package.
    func output(_ value: Tensor) -> Tensor {
        normalization == .inside ? value : LabScaling.denormalize(ab: value)
    }
}

extension StatedNormalization {
    /// Packages from other writers have no such entry: the default is inside.
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

    private static func sizeMultiple(_ keys: [String: String]) throws -> Int? {
        let key = MetadataKey.sizeMultiple
        guard let text = keys[key] else { return nil }
        guard let multiple = Int(text), multiple > 0 else {
            throw damaged(key, "\"\(text)\" is not a positive integer")
        }
        return multiple
    }

    private static func number(_ key: String, _ keys: [String: String]) throws -> Float {
        guard let number = Float(keys[key] ?? ""), number.isFinite else {
            throw damaged(key, "\"\(keys[key] ?? "")\" is not a number")
        }
        return number
    }

    private static func damaged(_ key: String, _ rule: String) -> ConversionError {
        ConversionError(
            place: "metadata \(key)", rule: rule,
            remedy: "The package was changed after retint exported it: export it again.")
    }
}

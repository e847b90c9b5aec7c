public import RetintGraph

/// The scaling between Lab and the values that networks compute with: (L − 50)/100 for lightness,
/// ab/110 for color.
///
/// It is that of ECCV16 and SIGGRAPH17, and every network here has it.
public enum LabScaling {
    /// Whether lightness and color are normalized inside a model or by the app that calls it.
    public enum Normalization: String, CaseIterable, Sendable {
        /// The model takes L in 0…100 and returns a and b in −110…110.
        case inside
        /// The model takes (L − 50)/100 and returns a/110 and b/110.
        case outside
    }

    /// The L that networks receive as 0.
    public static let lightnessCenter: Float = 50
    /// The units of L that networks receive as 1.
    public static let lightnessRange: Float = 100
    /// The a or b that networks return as 1.
    public static let colorRange: Float = 110

    /// The L of one level of a gray image whose levels 0…255 stand for L in 0…100.
    public static let lightnessPerPixel: Float = lightnessRange / 255
    /// The levels of such an image for one unit of L.
    public static let pixelsPerLightness: Float = 255 / lightnessRange

    /// (L − 50)/100, from L in 0…100.
    public static func normalize(lightness: Tensor) -> Tensor {
        (lightness - lightnessCenter) * (1 / lightnessRange)
    }

    /// (L − 50)/100, from L in 0…100.
    public static func normalize(lightness: Float) -> Float {
        (lightness - lightnessCenter) * (1 / lightnessRange)
    }

    /// L in 0…100, from (L − 50)/100.
    public static func denormalize(lightness: Tensor) -> Tensor {
        lightness * lightnessRange + lightnessCenter
    }

    /// ab/110 in −1…1, from a and b in −110…110.
    public static func normalize(ab: Tensor) -> Tensor { ab * (1 / colorRange) }

    /// a and b in −110…110, from ab/110 in −1…1.
    public static func denormalize(ab: Tensor) -> Tensor { ab * colorRange }
}

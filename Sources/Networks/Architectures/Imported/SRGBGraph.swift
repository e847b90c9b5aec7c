import Glibc
import RetintGraph

/// Conversions between CIE Lab and sRGB as operations of a graph, for white D65.
///
/// Curves with a straight part are sums of the straight part up to the joint and of the other one
/// from the joint on, so that they need no comparison, and have gradients everywhere.
enum SRGBGraph {
    /// L where Y stops being proportional to it.
    private static let lightnessJoint: Float = 8
    /// Y at that L, (6/29)³.
    private static let luminanceJoint: Float = 216.0 / 24389
    /// Linear light where sRGB's curve stops being straight.
    private static let linearJoint: Float = 0.003_130_8
    /// The stored value there.
    private static let storedJoint: Float = 0.04045

    /// The gray of sRGB in 0…1 that has the lightness L in 0…100.
    static func gray(_ lightness: Tensor) -> Tensor {
        let low = clip(lightness, min: 0, max: lightnessJoint) * (luminanceJoint / lightnessJoint)
        let root = (clip(lightness, min: lightnessJoint, max: 100) + 16) * (1 / 116)
        let luminance = low + (root * root * root - luminanceJoint)
        return stored(luminance)
    }

    /// sRGB's curve, from linear light in 0…1.
    private static func stored(_ linear: Tensor) -> Tensor {
        let low = clip(linear, min: 0, max: linearJoint) * 12.92
        let high = pow(clip(linear, min: linearJoint, max: 1), 1 / 2.4) * 1.055
        let atJoint = 1.055 * powf(linearJoint, 1 / 2.4)
        return low + (high - atJoint)
    }

    /// Linear light in 0…1, from sRGB in 0…1.
    private static func linear(_ stored: Tensor) -> Tensor {
        let low = clip(stored, min: 0, max: storedJoint) * (1 / 12.92)
        let high = pow(
            (clip(stored, min: storedJoint, max: 1) + 0.055) * (1 / 1.055), 2.4)
        return low + (high - powf((storedJoint + 0.055) / 1.055, 2.4))
    }

    /// a and b, [N, 2, H, W], of a photo in sRGB, [N, 3, H, W] in 0…1; what is beyond is clipped.
    static func ab(_ rgb: Tensor) -> Tensor {
        let light = linear(rgb)
        let channels = (0..<3).map { light.sliced(axis: 1, $0..<$0 + 1) }
        // The matrix of IEC 61966-2-1, each row divided by the white's X, Y or Z.
        let rows: [[Float]] = [
            [0.412453 / 0.95047, 0.357580 / 0.95047, 0.180423 / 0.95047],
            [0.212671, 0.715160, 0.072169],
            [0.019334 / 1.08883, 0.119193 / 1.08883, 0.950227 / 1.08883],
        ]
        let roots = rows.map { row in
            root(channels[0] * row[0] + channels[1] * row[1] + channels[2] * row[2])
        }
        return concat([(roots[0] - roots[1]) * 500, (roots[1] - roots[2]) * 200], axis: 1)
    }

    /// f of CIE Lab: the cube root, straight near 0.
    private static func root(_ t: Tensor) -> Tensor {
        let low = clip(t, min: 0, max: luminanceJoint) * (841.0 / 108)
        let high = pow(clip(t, min: luminanceJoint, max: 2), 1.0 / 3)
        // The constants 4/29 of X, Y and Z cancel out.
        return low + (high - powf(luminanceJoint, 1.0 / 3))
    }
}

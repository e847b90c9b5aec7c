import CRetintColor
import Glibc

/// Finds the colors that have a given a and b of CIE Lab and a given Y': what a colored video frame
/// needs, whose Y' must stay.
///
/// R'G'B' is read with the curve of sRGB, as screens show it. A gray sample of the same lightness
/// has another Y' than a colored one, so that the lightness of a color differs from that of its Y'
/// only; a and b are exact, unless the color is outside the gamut, where it loses chroma.
package struct LumaColors: Sendable {
    /// Linear red, green and blue of X, Y and Z relative to D65.
    package enum Primaries: Sendable {
        /// sRGB and BT.709; BT.601 is close to them.
        case bt709
        /// BT.2020.
        case bt2020

        /// Row by row.
        fileprivate var fromXYZ: [Float] {
            let white: [Float] = [0.95047, 1, 1.08883]
            let rows: [Float] =
                switch self {
                case .bt709:
                    [
                        3.240_481_34, -1.537_151_52, -0.498_536_33, -0.969_254_95, 1.875_990_0,
                        0.041_555_927, 0.055_646_639, -0.204_041_338, 1.057_311_07,
                    ]
                case .bt2020:
                    [
                        1.716_651_2, -0.355_670_8, -0.253_366_3, -0.666_684_4, 1.616_481_2,
                        0.015_768_5, 0.017_639_9, -0.042_770_6, 0.942_103_1,
                    ]
                }
            return rows.indices.map { rows[$0] * white[$0 % 3] }
        }
    }

    private var space: cs_color_space
    private let grays: [cs_gray]

    /// - Parameters:
    ///   - red: the weight of red in Y'.
    ///   - blue: the weight of blue in Y'.
    ///   - primaries: the colors of red, green and blue.
    ///   - luma: Y' in 0…1 of each value in `sums` of ``chroma(_:a:b:)``.
    package init(red: Float, blue: Float, primaries: Primaries, luma: [Double]) {
        let m = primaries.fromXYZ
        space = cs_color_space(
            luma: (red, 1 - red - blue, blue),
            rgb: (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]))
        grays = luma.map(Self.gray)
    }

    /// Cb and Cr in −½…½.
    ///
    /// - Parameters:
    ///   - sums: an index into the table of luma for each sample.
    ///   - a: of each sample.
    ///   - b: of each sample.
    /// - Precondition: All have one length, and the table has all of `sums`.
    package func chroma(
        _ sums: UnsafeBufferPointer<UInt16>, a: UnsafePointer<Float>, b: UnsafePointer<Float>,
        cb: UnsafeMutablePointer<Float>, cr: UnsafeMutablePointer<Float>
    ) {
        guard let first = sums.baseAddress else { return }
        withUnsafePointer(to: space) { space in
            cs_chroma(grays, first, a, b, cb, cr, sums.count, space)
        }
    }

    private static func gray(_ luma: Double) -> cs_gray {
        let linear = SRGBCurve.decode(luma)
        let isDark = linear <= 0.008856
        let f = isDark ? 7.787 * linear + 16.0 / 116 : cbrt(linear)
        // dY'/dY · dY/df.
        let encoding = luma > 0.04045 ? 1.055 / 2.4 * pow(linear, 1 / 2.4 - 1) : 12.92
        let cube = isDark ? 1 / 7.787 : 3 * f * f
        return cs_gray(
            luma: Float(luma), lightness: Float(f), slope: Float(encoding * cube))
    }

    /// L in 0…100 of a gray value.
    ///
    /// - Parameter luma: Y' in 0…1.
    package static func lightness(luma: Double) -> Double {
        116 * Double(gray(luma).lightness) - 16
    }
}

extension LumaColors {
    /// sRGB of a color with the primaries of BT.2020; colors outside sRGB are clamped.
    ///
    /// - Parameter color: red, green and blue in 0…1, encoded with the curve of sRGB.
    package static func narrowed(_ color: SIMD3<Float>) -> SIMD3<Float> {
        var linear = SIMD3<Float>()
        for channel in 0..<3 { linear[channel] = Float(SRGBCurve.decode(Double(color[channel]))) }
        // Of the primaries' chromaticities (ITU-R BT.2087, table 4, inverted).
        let narrow = SIMD3(
            (linear * SIMD3(1.660491, -0.587641, -0.072850)).sum(),
            (linear * SIMD3(-0.124550, 1.132900, -0.008349)).sum(),
            (linear * SIMD3(-0.018151, -0.100579, 1.118730)).sum()
        ).clamped(lowerBound: .zero, upperBound: .one)
        var encoded = SIMD3<Float>()
        for channel in 0..<3 { encoded[channel] = Float(SRGBCurve.encode(Double(narrow[channel]))) }
        return encoded
    }
}

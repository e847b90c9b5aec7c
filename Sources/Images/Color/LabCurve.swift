/// The curve between relative XYZ and Lab, four values at a time.
enum LabCurve {
    typealias Lanes = SIMD4<Float>

    /// ∛t above 0.008856, else 7.787 t + 16/116, for t in 0…1.1.
    ///
    /// A cubic starts within 9 %; two Halley steps, which cube the error, reach the last bit.
    @inline(__always)
    static func forward(_ t: Lanes) -> Lanes {
        let start = 0.197_772_25 + t * (3.082_351_4 + t * (-5.356_218_2 + t * 3.161_929_5))
        let root = halley(halley(start, t), t)
        return root.replacing(with: 7.787 * t + 16 / 116, where: t .<= 0.008856)
    }

    /// The inverse: v³ above 0.2068966, else (v − 16/116) / 7.787.
    @inline(__always)
    static func inverse(_ v: Lanes) -> Lanes {
        (v * v * v).replacing(with: (v - 16 / 116) * (1 / 7.787), where: v .<= 0.2068966)
    }

    @inline(__always)
    private static func halley(_ y: Lanes, _ t: Lanes) -> Lanes {
        let cube = y * y * y
        return y + y * ((t - cube) / (cube + cube + t))
    }
}

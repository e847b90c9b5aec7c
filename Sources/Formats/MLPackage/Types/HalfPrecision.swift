/// float32 to float16 and back.
package enum HalfPrecision {
    /// The bit patterns of the nearest float16 values, ties to even; too large values become
    /// infinite.
    package static func halfs(_ values: [Float]) -> [UInt16] {
        values.map { Float16($0).bitPattern }
    }

    /// The values of float16 bit patterns, exactly.
    package static func floats(_ patterns: [UInt16]) -> [Float] {
        patterns.map(float)
    }

    /// The largest finite float16.
    package static let maximum: Float = 65504

    /// Converts one pattern with shifts and a multiplication, which handles subnormals without a
    /// branch. Baseline x86-64 has no conversion instruction, and a library call per weight would
    /// take ten times as long.
    @inline(__always)
    private static func float(_ half: UInt16) -> Float {
        let magnitude = UInt32(half & 0x7FFF) << 13
        let sign = UInt32(half & 0x8000) << 16
        let scaled = Float(bitPattern: magnitude) * 0x1p112
        // An exponent of all ones means infinity or NaN in both formats.
        let special: UInt32 = magnitude >= 0x0F80_0000 ? 0x7F80_0000 : 0
        return Float(bitPattern: scaled.bitPattern | special | sign)
    }
}

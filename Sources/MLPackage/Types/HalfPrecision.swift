/// float32 to float16 and back.
package enum HalfPrecision {
    /// Bit patterns of the nearest float16 values, ties to even; too large gives infinity.
    package static func halfs(_ values: [Float]) -> [UInt16] {
        values.map { Float16($0).bitPattern }
    }

    /// The values of float16 bit patterns, exactly.
    package static func floats(_ patterns: [UInt16]) -> [Float] {
        patterns.map(float)
    }

    /// The largest finite float16.
    package static let maximum: Float = 65504

    /// One pattern widened by shifts and one multiplication, which handles subnormals without a
    /// branch: the processor that every build runs on has no conversion of its own, and a library
    /// call per weight would cost ten times as much.
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

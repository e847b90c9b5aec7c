/// Integers as little-endian bytes, on any machine.
///
/// The loops index spans, whose single-byte accesses the optimizer combines into whole loads and
/// stores: 129 MB of weights take about a tenth of a second without unsafe memory access.
package enum LittleEndian {
    package static func bytes(_ values: [Float]) -> [UInt8] {
        bytes(values, width: 4) { $0.bitPattern }
    }

    package static func bytes<Number: FixedWidthInteger>(_ values: [Number]) -> [UInt8] {
        bytes(values, width: Number.bitWidth / 8) { $0 }
    }

    package static func floats(_ bytes: [UInt8]) -> [Float] {
        numbers(bytes, width: 4, zero: 0) { Float(bitPattern: UInt32(truncatingIfNeeded: $0)) }
    }

    /// 16-bit integers.
    package static func halfs(_ bytes: [UInt8]) -> [UInt16] {
        numbers(bytes, width: 2, zero: 0) { UInt16(truncatingIfNeeded: $0) }
    }

    /// 32-bit integers.
    package static func words(_ bytes: [UInt8]) -> [UInt32] {
        numbers(bytes, width: 4, zero: 0) { UInt32(truncatingIfNeeded: $0) }
    }

    /// The integer of `width` bytes at `offset`.
    package static func number(_ bytes: [UInt8], at offset: Int, width: Int) -> UInt64 {
        bytes[offset..<offset + width].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    @inline(__always)
    private static func bytes<Number, Bits: FixedWidthInteger>(
        _ values: [Number], width: Int, _ bits: (Number) -> Bits
    ) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: values.count * width)
        var target = result.mutableSpan
        let source = values.span
        for index in source.indices {
            let pattern = bits(source[index])
            for byte in 0..<width {
                target[index * width + byte] = UInt8(truncatingIfNeeded: pattern >> (8 * byte))
            }
        }
        return result
    }

    @inline(__always)
    private static func numbers<Number>(
        _ bytes: [UInt8], width: Int, zero: Number, _ number: (UInt64) -> Number
    ) -> [Number] {
        var result = [Number](repeating: zero, count: bytes.count / width)
        var target = result.mutableSpan
        let source = bytes.span
        for index in target.indices {
            var pattern: UInt64 = 0
            for byte in 0..<width {
                pattern |= UInt64(source[index * width + byte]) << (8 * UInt64(byte))
            }
            target[index] = number(pattern)
        }
        return result
    }
}

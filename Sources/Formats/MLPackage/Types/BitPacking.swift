/// Elements of up to eight bits, or of whole bytes, in a little-endian stream: element i has the
/// bits i·b up to (i+1)·b.
package enum BitPacking {
    package static func pack(_ values: [Int32], bits: Int) -> [UInt8] {
        guard bits <= 8 else {
            return values.flatMap { value in
                (0..<bits / 8).map { UInt8(truncatingIfNeeded: Int64(value) >> (8 * Int64($0))) }
            }
        }
        var result = [UInt8](repeating: 0, count: (values.count * bits + 7) / 8)
        let mask = UInt16(1) << bits - 1
        for (index, value) in values.enumerated() {
            let start = index * bits
            let shifted = (UInt16(truncatingIfNeeded: value) & mask) << (start % 8)
            result[start / 8] |= UInt8(truncatingIfNeeded: shifted)
            if start % 8 + bits > 8 { result[start / 8 + 1] |= UInt8(shifted >> 8) }
        }
        return result
    }

    package static func unpack(_ bytes: [UInt8], count: Int, bits: Int, signed: Bool) -> [Int32] {
        let mask = UInt16(1) << bits - 1
        return (0..<count).map { index in
            let start = index * bits
            var window = UInt16(bytes[start / 8])
            if start % 8 + bits > 8 { window |= UInt16(bytes[start / 8 + 1]) << 8 }
            let pattern = Int32((window >> (start % 8)) & mask)
            return signed && pattern >> (bits - 1) == 1 ? pattern - (1 << bits) : pattern
        }
    }
}

/// Bytes with numbers in MLIR's variable-width encoding.
package struct ByteBuffer {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func append(byte: UInt8) { bytes.append(byte) }

    package mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    /// One byte for each seven bits, with the number of further bytes as zeros at the low end.
    package mutating func append(unsigned value: UInt64) {
        let bits = max(UInt64.bitWidth - value.leadingZeroBitCount, 1)
        let count = (bits + 6) / 7
        guard count <= 8 else {
            bytes.append(0)
            return append((0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64($0 * 8)) })
        }
        let coded = (value << 1 | 1) << UInt64(count - 1)
        append((0..<count).map { UInt8(truncatingIfNeeded: coded >> UInt64($0 * 8)) })
    }

    package mutating func append(_ value: Int) { append(unsigned: UInt64(value)) }

    package mutating func append(signed value: Int64) {
        append(unsigned: UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    /// A list, preceded by its length.
    package mutating func append(list: [Int]) {
        append(list.count)
        for value in list { append(value) }
    }

    /// Pads to a multiple of `alignment`, counted from `start` bytes before this buffer.
    package mutating func pad(to alignment: Int, after start: Int = 0) {
        let missing = (alignment - (start + bytes.count) % alignment) % alignment
        append(repeatElement(BytecodeSections.padding, count: missing))
    }
}

/// The checksum of zip files: CRC-32 with the polynomial 0x04C11DB7, the lowest bit first.
struct CRC32 {
    private var state: UInt32 = .max

    var value: UInt32 { ~state }

    /// Adds bytes, eight at a time: one by one would take longer than reading them.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        Self.tables.withUnsafeBufferPointer { tables in
            var crc = state
            let whole = bytes.count & ~7
            for start in stride(from: 0, to: whole, by: 8) {
                let word =
                    bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self).littleEndian
                    ^ UInt64(crc)
                crc = 0
                for index in 0..<8 {
                    crc ^= tables[(7 - index) << 8 | Int(word >> UInt64(8 * index) & 0xff)]
                }
            }
            for index in whole..<bytes.count {
                crc = crc >> 8 ^ tables[Int((crc ^ UInt32(bytes[index])) & 0xff)]
            }
            state = crc
        }
    }

    /// Eight tables of 256: table k advances a byte by k more bytes.
    private static let tables: [UInt32] = {
        var tables = (0..<256).map { index in
            (0..<8).reduce(UInt32(index)) { crc, _ in crc >> 1 ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        for index in 256..<2048 {
            let before = tables[index - 256]
            tables.append(before >> 8 ^ tables[Int(before & 0xff)])
        }
        return tables
    }()
}

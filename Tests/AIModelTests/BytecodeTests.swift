import Testing

@testable import RetintMLIRBytecode

/// The encoding of numbers that MLIR documents.
@Suite struct BytecodeTests {
    /// Numbers and their bytes: the count of zeros at the low end is that of further bytes.
    static let numbers: [(UInt64, [UInt8])] = [
        (0, [0x01]), (1, [0x03]), (127, [0xFF]), (128, [0x02, 0x02]), (16383, [0xFE, 0xFF]),
        (16384, [0x04, 0x00, 0x02]), (2_097_151, [0xFC, 0xFF, 0xFF]),
        (1 << 55, [0x80, 0, 0, 0, 0, 0, 0, 0x80]), (1 << 56, [0, 0, 0, 0, 0, 0, 0, 0, 1]),
        (.max, [0] + [UInt8](repeating: 0xFF, count: 8)),
    ]

    @Test(arguments: numbers) func numbersHaveTheirBytes(value: UInt64, bytes: [UInt8]) throws {
        var buffer = ByteBuffer()
        buffer.append(unsigned: value)
        #expect(buffer.bytes == bytes)
        var cursor = ByteCursor(bytes, offset: 0)
        #expect(try cursor.unsigned() == value)
        #expect(cursor.isAtEnd)
    }

    @Test(arguments: numbers) func numbersMayNotBreakOff(value: UInt64, bytes: [UInt8]) {
        for count in 0..<bytes.count {
            var cursor = ByteCursor(Array(bytes.prefix(count)), offset: 7)
            #expect(throws: BytecodeError.self) { try cursor.unsigned() }
        }
    }

    @Test(arguments: [
        (Int64(0), UInt8(0x01)), (-1, 0x03), (1, 0x05), (-2, 0x07), (63, 0xFD), (-64, 0xFF),
    ])
    func signsAreTheLowestBit(value: Int64, byte: UInt8) throws {
        var buffer = ByteBuffer()
        buffer.append(signed: value)
        #expect(buffer.bytes == [byte])
        var cursor = ByteCursor([byte], offset: 0)
        #expect(try cursor.signed() == value)
    }

    @Test(arguments: [Int64.min, .max]) func extremesAreKept(value: Int64) throws {
        var buffer = ByteBuffer()
        buffer.append(signed: value)
        var cursor = ByteCursor(buffer.bytes, offset: 0)
        #expect(try cursor.signed() == value)
    }
}

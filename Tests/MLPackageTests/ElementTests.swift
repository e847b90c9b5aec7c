import Testing

@testable import RetintMLPackage

struct ElementTests {
    @Test func everyHalfWidensAsTheLanguageDoes() {
        let patterns = (0...UInt16.max).map { $0 }
        for (pattern, value) in zip(patterns, HalfPrecision.floats(patterns)) {
            let expected = Float(Float16(bitPattern: pattern))
            #expect(value.bitPattern == expected.bitPattern || value.isNaN && expected.isNaN)
        }
    }

    @Test(arguments: [
        (Float(1), UInt16(0x3C00)), (-2, 0xC000), (65504, 0x7BFF), (65519, 0x7BFF), (65520, 0x7C00),
        (1e-5, 0x00A8), (0x1p-25, 0), (0x1.8p-24, 2), (2049, 0x6800), (2051, 0x6802),
        (-0.0, 0x8000),
    ])
    func narrowsToNearestEven(value: Float, pattern: UInt16) {
        #expect(HalfPrecision.halfs([value]) == [pattern])
    }

    @Test func bytesAreLittleEndian() {
        #expect(LittleEndian.bytes([Float(1)]) == [0, 0, 0x80, 0x3F])
        #expect(LittleEndian.bytes([UInt16(0x1234), 1]) == [0x34, 0x12, 1, 0])
        #expect(LittleEndian.floats([0, 0, 0x80, 0xBF]) == [-1])
        #expect(LittleEndian.words([1, 2, 3, 4, 5]) == [0x0403_0201])
    }

    @Test(
        arguments: [
            ([0, 4], 0), ([], 1), ([2, 3], 6), ([0, 1 << 62, 1 << 62], nil),
            ([1 << 40, 1 << 10], nil),
            ([-1, 0], nil),
        ] as [([Int], Int?)])
    func countsElements(shape: [Int], count: Int?) {
        #expect(MILTensorType(.float32, shape).elementCount == count)
    }

    @Test func packsWholeBytes() {
        #expect(BitPacking.pack([1, -2], bits: 16) == [1, 0, 0xFE, 0xFF])
        #expect(BitPacking.pack([0x0102_0304], bits: 32) == [4, 3, 2, 1])
    }

    @Test(arguments: [
        (MILDataType.int4, [Int32](arrayLiteral: -1, 2, -8), [UInt8]([0x2F, 0x08])),
        (.uint1, [1, 0, 0, 0, 0, 0, 0, 1, 1], [0x81, 0x01]),
        (.uint3, [7, 0, 5, 1], [0x47, 0x03]), (.uint6, [63, 1, 2], [0x7F, 0x20, 0x00]),
        (.uint2, [3, 2, 1, 0], [0x1B]),
    ])
    func packs(type: MILDataType, values: [Int32], bytes: [UInt8]) throws {
        let value = MILValue.packed(values, as: type)
        #expect(value.content == .bytes(bytes))
        #expect(try value.integers() == values)
    }

    @Test func refusesElementsOfAnotherKind() {
        let value = MILValue.string("same")
        #expect(throws: MLPackageError.self) { try value.floats() }
        #expect(throws: MLPackageError.self) { try value.integers() }
        #expect(throws: MLPackageError.self) { try MILValue.uint32([.max]).integers() }
    }

    @Test func sizesDoNotOverflow() {
        let huge = MILTensorType(.float32, [Int.max, Int.max, 2])
        #expect(huge.elementCount == nil)
        #expect(MILTensorType(.float32, [1 << 40, 1 << 40]).byteCount == nil)
        #expect(MILTensorType(.float32, [-1]).elementCount == nil)
        #expect(MILTensorType(.int4, [3]).byteCount == 2)
        #expect(MILTensorType(.float32).elementCount == 1)
    }
}

/// Reads numbers one after the other from a part of a file, never past its end.
package struct ByteCursor {
    private let bytes: ArraySlice<UInt8>
    /// The position in the file of the element 0 of the underlying array.
    private let base: Int
    private var index: Int

    /// - Parameter offset: The position of the first byte in the file, for errors.
    package init(_ bytes: [UInt8], offset: Int) { self.init(bytes[...], offset: offset) }

    /// - Parameter offset: The position of the slice's first byte in the file, for errors.
    package init(_ bytes: ArraySlice<UInt8>, offset: Int) {
        self.bytes = bytes
        base = offset - bytes.startIndex
        index = bytes.startIndex
    }

    /// The position in the file of the next byte.
    package var offset: Int { base + index }
    package var remaining: Int { bytes.endIndex - index }
    package var isAtEnd: Bool { index == bytes.endIndex }

    package func error(_ rule: String) -> BytecodeError { BytecodeError(offset: offset, rule) }

    package mutating func byte() throws(BytecodeError) -> UInt8 {
        guard index < bytes.endIndex else { throw error("the bytes end too early") }
        defer { index += 1 }
        return bytes[index]
    }

    /// The next `count` bytes.
    package mutating func take(_ count: Int) throws(BytecodeError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= remaining else {
            throw error("\(count) bytes are needed, \(remaining) are left")
        }
        defer { index += count }
        return bytes[index..<index + count]
    }

    /// A cursor over the next `count` bytes, which this one skips.
    package mutating func part(_ count: Int) throws(BytecodeError) -> ByteCursor {
        let start = offset
        return ByteCursor(try take(count), offset: start)
    }

    /// A number of one to nine bytes: the zero bits at the low end of the first byte count the
    /// bytes that follow.
    package mutating func unsigned() throws(BytecodeError) -> UInt64 {
        guard index < bytes.endIndex else { throw error("the bytes end too early") }
        let extra = bytes[index] == 0 ? 8 : bytes[index].trailingZeroBitCount
        var value: UInt64 = 0
        for (position, byte) in try take(extra + 1).enumerated() {
            // With nine bytes, the first one has no bits of the number.
            let shift = extra == 8 ? position * 8 - 8 : position * 8
            if shift >= 0 { value |= UInt64(byte) << UInt64(shift) }
        }
        return extra == 8 ? value : value >> UInt64(extra + 1)
    }

    /// A signed number: 0, −1, 1, −2, … are stored as 0, 1, 2, 3, ….
    package mutating func signed() throws(BytecodeError) -> Int64 {
        let value = try unsigned()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// A number that is used as an index or a count.
    package mutating func index(
        below limit: Int, _ what: @autoclosure () -> String
    ) throws(BytecodeError) -> Int {
        let start = offset
        let value = try unsigned()
        guard value < UInt64(limit) else {
            throw BytecodeError(
                offset: start, "\(value) is out of range: there are \(limit) \(what())")
        }
        return Int(value)
    }

    /// The number of elements that follow, each of at least one byte.
    package mutating func count() throws(BytecodeError) -> Int {
        let start = offset
        let value = try unsigned()
        guard value <= UInt64(remaining) else {
            throw BytecodeError(
                offset: start, "\(value) elements are announced, \(remaining) bytes are left")
        }
        return Int(value)
    }

    /// A list of indices, preceded by its length.
    package mutating func indices(
        below limit: Int, _ what: @autoclosure () -> String
    ) throws(BytecodeError) -> [Int] {
        let number = try count()
        var result: [Int] = []
        result.reserveCapacity(number)
        for _ in 0..<number { result.append(try index(below: limit, what())) }
        return result
    }

    /// Checks that nothing is left.
    package func finish(_ what: String) throws(BytecodeError) {
        guard isAtEnd else { throw error("\(remaining) bytes follow the \(what)") }
    }
}

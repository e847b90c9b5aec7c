/// The numbers of a TIFF, in the order of bytes that it states.
struct TIFFNumbers {
    var bytes: [UInt8]
    private let isBigEndian: Bool

    /// - Returns: nil if the data do not begin as a TIFF does.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        isBigEndian = bytes.starts(with: "MM".utf8)
        guard isBigEndian || bytes.starts(with: "II".utf8), number(at: 2, bytes: 2) == 42 else {
            return nil
        }
    }

    /// The offset of the first directory.
    var firstDirectory: Int? { number(at: 4, bytes: 4) }

    /// An unsigned number; nil past the end.
    func number(at offset: Int, bytes count: Int) -> Int? {
        guard offset >= 0, offset + count <= bytes.count else { return nil }
        let digits = bytes[offset..<offset + count]
        return (isBigEndian ? Array(digits) : digits.reversed()).reduce(0) { $0 << 8 | Int($1) }
    }

    /// Replaces an unsigned number within the data.
    mutating func store(_ value: Int, at offset: Int, bytes count: Int) {
        for index in 0..<count {
            let shift = 8 * (isBigEndian ? count - 1 - index : index)
            bytes[offset + index] = UInt8(truncatingIfNeeded: value >> shift)
        }
    }
}

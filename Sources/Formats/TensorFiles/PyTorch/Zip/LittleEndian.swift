extension [UInt8] {
    /// The number at an offset, little-endian. The bytes have been checked to be there.
    func uint16(at offset: Int) -> Int { Int(number(at: offset, byteCount: 2)) }
    func uint32(at offset: Int) -> Int { Int(number(at: offset, byteCount: 4)) }
    func uint64(at offset: Int) -> UInt64 { number(at: offset, byteCount: 8) }

    private func number(at offset: Int, byteCount: Int) -> UInt64 {
        self[offset..<offset + byteCount].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

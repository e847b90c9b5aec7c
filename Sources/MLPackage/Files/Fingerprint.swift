/// 128 bits that tell contents apart. Not made to withstand forgery: who relies on it compares the
/// contents too.
struct Fingerprint: Hashable {
    private var low: UInt64 = 0x9E37_79B9_7F4A_7C15
    private var high: UInt64 = 0xC2B2_AE3D_27D4_EB4F

    var words: [UInt64] { [low, high] }

    /// Takes in a piece. The same bytes in other pieces of whole words give the same fingerprint.
    mutating func combine(_ bytes: [UInt8]) {
        for word in LittleEndian.longWords(bytes) { combine(word) }
        let tail = bytes.count % 8
        if tail > 0 {
            combine(LittleEndian.number(bytes, at: bytes.count - tail, width: tail))
            combine(UInt64(tail))
        }
    }

    @inline(__always)
    private mutating func combine(_ word: UInt64) {
        low = (low ^ word) &* 0xFF51_AFD7_ED55_8CCD
        low ^= low >> 32
        high = (high &+ word) &* 0xC4CE_B9FE_1A85_EC53
        high ^= high >> 29
    }

    /// The fingerprint in the form of a UUID of version 8 (own scheme), lower case.
    var identifier: String {
        var digits = words.flatMap { word in
            let text = String(word, radix: 16)
            return Array(String(repeating: "0", count: 16 - text.count) + text)
        }
        digits[12] = "8"
        digits[16] = "8"
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return parts.map { String(digits[$0]) }.joined(separator: "-")
    }
}

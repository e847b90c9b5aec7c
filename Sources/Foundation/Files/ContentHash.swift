import Crypto

/// SHA-256 of a stream of bytes.
package struct ContentHash {
    private var hash = SHA256()

    package init() {}

    /// Appends the values' bytes as they are in memory, which is little-endian.
    package mutating func update<Value: BitwiseCopyable>(_ values: [Value]) {
        values.withUnsafeBytes { hash.update(bufferPointer: $0) }
    }

    /// The 32 bytes of the hash of everything appended so far.
    package var digest: [UInt8] { Array(hash.finalize()) }
}

extension [UInt8] {
    /// The bytes as lowercase hexadecimal digits.
    package var hexadecimal: String {
        let digits = [Character]("0123456789abcdef")
        return String(flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}

import CRetintSystem

/// SHA-256 of a stream of bytes.
package struct ContentHash {
    private var hash = digest_sha256()

    package init() { digest_sha256_init(&hash) }

    /// Appends the values' bytes as they are in memory, which is little-endian.
    package mutating func update<Value: BitwiseCopyable>(_ values: [Value]) {
        values.withUnsafeBytes { digest_sha256_update(&hash, $0.baseAddress, $0.count) }
    }

    /// The 32 bytes of the hash of everything appended so far.
    package var digest: [UInt8] {
        var end = hash
        return [UInt8](unsafeUninitializedCapacity: 32) { bytes, count in
            digest_sha256_final(&end, bytes.baseAddress)
            count = 32
        }
    }
}

extension [UInt8] {
    /// The bytes as lowercase hexadecimal digits.
    package var hexadecimal: String {
        let digits = [Character]("0123456789abcdef")
        return String(flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}

/// Decisions from the bytes of an input, one after the other; zeros at the end of them.
struct Choices {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) { rest = Array(bytes)[...] }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func bool() -> Bool { byte() & 1 == 1 }

    /// A number in 0..<bound.
    mutating func below(_ bound: Int) -> Int { bound <= 1 ? 0 : Int(byte()) % bound }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }

    /// True in one of `count` cases, and not at the end of the bytes.
    mutating func isOne(in count: Int) -> Bool { below(count) == count - 1 }

    /// Mostly a small number, else one at a limit.
    mutating func number() -> Int32 {
        let byte = byte()
        return byte < 176 ? Int32(byte % 11) - 2 : Self.limits[Int(byte) % Self.limits.count]
    }

    private static let limits: [Int32] = [
        16, 31, 64, 100, 127, 128, 255, 256, 1023, 4096, 16_384, 32_767, 46_341, 65_535, 65_536,
        -65_536, 1 << 20, 1 << 24, 1 << 30, -(1 << 30), .max, .max - 1, .min, .min + 1, -3, -8,
    ]

    mutating func float() -> Float {
        Self.floats[below(Self.floats.count)]
    }

    private static let floats: [Float] = [
        0, 1, 0.5, -1, 2, 1e-5, 3, -0.25, 100, 1e30, -1e30, 1e-30, .infinity, -.infinity, .nan,
        .greatestFiniteMagnitude, .leastNonzeroMagnitude, -0.0, 65_504, 2_147_483_648, 1e19,
    ]

    /// Up to `count` bytes.
    mutating func bytes(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func remaining() -> [UInt8] { bytes(rest.count) }
}

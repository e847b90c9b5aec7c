import RetintColor
import RetintImages

/// A 64-bit difference hash of an image's lightness, nearly unchanged by scaling, recompression and
/// recoloring: each bit states whether lightness rises from one cell of a 9 × 8 grid to the next.
package struct PerceptualHash: Hashable, Sendable {
    package let bits: UInt64
    /// The hash of the mirrored image.
    private let mirrored: UInt64

    package init(_ image: Image) {
        bits = Self.bits(image)
        mirrored = Self.bits(image.flippedHorizontally())
    }

    private static func bits(_ image: Image) -> UInt64 {
        let lightness = lab(fromRGB: image.resized(to: 9, height: 8, filter: .box).pixels).l
        var bits: UInt64 = 0
        for row in 0..<8 {
            for column in 0..<8 {
                let index = 9 * row + column
                bits = bits << 1 | (lightness[index + 1] > lightness[index] ? 1 : 0)
            }
        }
        return bits
    }

    /// The Hamming distance to the other hash or to its mirror image, whichever is smaller.
    package func distance(to other: PerceptualHash) -> Int {
        min((bits ^ other.bits).nonzeroBitCount, (bits ^ other.mirrored).nonzeroBitCount)
    }
}

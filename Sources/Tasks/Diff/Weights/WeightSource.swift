import RetintFiles
import RetintMLPackage
import RetintTensors

/// A weight of a model, whose values are read when they are needed.
struct WeightSource {
    let weight: ModelDiff.Weight
    let read: () throws -> [Float]

    /// The extents without those of 1: a bias may be [32] or [1, 32, 1, 1].
    var shape: [Int] { weight.shape.filter { $0 != 1 } }
}

/// What the values of a weight have in common with others that are equal to them, so that few
/// values have to be in memory.
struct WeightPrint {
    /// Of the values in half precision, in their order.
    let content: [UInt8]
    /// Of the values in half precision, whatever their order is.
    let elements: UInt64

    init(_ values: [Float]) {
        // Without the sign of zero.
        let halfs = HalfPrecision.halfs(values).map { $0 == 0x8000 ? 0 : $0 }
        var hash = ContentHash()
        hash.update(halfs)
        content = hash.digest
        elements = halfs.reduce(0) { $0 &+ Self.mixed(UInt64($1)) }
    }

    /// Spreads the bits, so that sums of few values differ.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var bits = (value &+ 1) &* 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        return bits ^ (bits >> 27)
    }
}

/// A weight's name without what formats and tools change: characters that a format does not allow,
/// and the suffixes of coremltools for precision and compression.
func plainWeightName(_ name: String) -> String {
    var plain = MILNames.legal(name)
    while let suffix = suffixes.first(where: plain.hasSuffix), plain.count > suffix.count {
        plain.removeLast(suffix.count)
    }
    return plain
}

private let suffixes = [
    "_to_fp16", "_cast_fp16", "_quantized", "_palettized", "_sparsified", "_promoted",
]

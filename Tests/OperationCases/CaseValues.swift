import RetintGraph
import RetintTensors

/// How the values of an input are drawn.
package enum ValueRange: Sendable {
    case signed, positive, wide, integers, distinct
}

/// The values that a case runs on, drawn from its name, so that no file has to store them:
/// `OperationTests/Goldens/record_operations.py` draws the same.
package enum CaseValues {
    package static func all(of testCase: OperationCase, outputShape: Shape) -> [String: [Float]] {
        var feeds = ["weights": draw(.signed, outputShape.count, seed(testCase.name, 1000))]
        for (index, input) in testCase.inputs.enumerated() {
            let seed = seed(testCase.name, index)
            feeds["input \(index)"] = draw(input.range, input.shape.count, seed)
        }
        return feeds
    }

    /// The 64-bit FNV-1a hash of the name, moved by the index.
    package static func seed(_ name: String, _ index: Int) -> UInt64 {
        let hash = name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return hash &+ UInt64(index) &* 0x1234_5678_9abc_def1
    }

    /// The `index`-th value of the splitmix64 sequence that starts at `seed`.
    package static func splitMix(_ seed: UInt64, _ index: Int) -> UInt64 {
        var z = seed &+ UInt64(index + 1) &* 0x9e37_79b9_7f4a_7c15
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    package static func draw(_ range: ValueRange, _ count: Int, _ seed: UInt64) -> [Float] {
        if range == .distinct { return distinct(count, seed) }
        return (0..<count).map { index in
            let bits = splitMix(seed, index)
            if range == .integers { return Float(Int(bits >> 40) % 17 - 8) }
            let unit = Double(bits >> 40) / 0x1p24
            switch range {
            case .positive: return Float(0.5 + 1.5 * unit)
            case .wide: return Float(16 * unit - 8)
            default: return Float(2 * unit - 1)
            }
        }
    }

    /// −1, −1 + 2/n, …, shuffled.
    private static func distinct(_ count: Int, _ seed: UInt64) -> [Float] {
        var ranks = Array(0..<count)
        for index in stride(from: count - 1, to: 0, by: -1) {
            ranks.swapAt(index, Int(splitMix(seed, index) % UInt64(index + 1)))
        }
        return ranks.map { Float(Double(2 * $0 - count) / Double(count)) }
    }
}

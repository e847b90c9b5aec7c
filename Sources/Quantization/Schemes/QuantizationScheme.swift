import Files
import MIL
import MLPackage

/// How a weight of a package is made smaller; the words and their meaning are coremltools'.
public struct QuantizationScheme: Hashable, Sendable {
    /// What the numbers of a weight become.
    public enum Weights: Hashable, Sendable {
        /// They stay as they are: for weights that are only made sparse.
        case unchanged
        /// Half precision: for packages that compute in float32.
        case float16
        /// Whole numbers times a scale, with or without a zero point.
        case int8, uint8, int4, uint4
        /// Places in a table of 2^bits numbers.
        case palette(bits: Int)
    }

    /// Which numbers share a scale, or a table.
    public enum Granularity: String, CaseIterable, Sendable {
        case perTensor = "per-tensor"
        /// One scale for each output channel.
        case perChannel = "per-channel"
        /// One scale for each output channel and run of input channels.
        case perBlock = "per-block"
        /// One table for each run of output channels (`per_grouped_channel`).
        case perGroup = "per-group"
    }

    public enum Mode: String, CaseIterable, Sendable {
        /// Zero is the middle of the range (`linear_symmetric`).
        case symmetric
        /// The range is that of the numbers and zero, with a zero point (`linear`).
        case linear
    }

    public enum PaletteMode: String, CaseIterable, Sendable {
        /// The table with the least squared error.
        case kmeans
        /// Equal steps from the least number to the greatest.
        case uniform
    }

    /// Which numbers become zero together.
    public enum Pruning: Hashable, Sendable {
        /// Each by itself: those nearest to zero.
        case single
        /// Runs of so many channels: those with the least sum of squares (`block_size`).
        case blocks(of: Int)
        /// Of so many neighboring channels, so many (`n_m_ratio`), whatever the sparsity is.
        case ratio(zeros: Int, of: Int)
    }

    public enum ChannelAxis: String, CaseIterable, Sendable {
        case output, input
    }

    public var weights: Weights
    /// Nil for what suits the weights: one scale for each channel, but one table for all.
    public var granularity: Granularity?
    public var mode = Mode.symmetric
    public var paletteMode = PaletteMode.kmeans
    /// Input channels of a block, or output channels of a group.
    public var blockSize: Int
    /// The share of the numbers that become zero, those nearest to it; 0…1.
    public var sparsity = 0.0
    public var pruning = Pruning.single
    /// Along which channels neighbors lie, where it matters; nil: blocks along the output, ratios
    /// along the input channels (coremltools' `dim`).
    public var chosenPruningAxis: ChannelAxis?
    /// Weights of no more numbers than this are left alone.
    public var threshold = 2048

    public init(_ weights: Weights, granularity: Granularity? = nil, blockSize: Int = 32) {
        (self.weights, self.granularity, self.blockSize) = (weights, granularity, blockSize)
    }
}

extension QuantizationScheme.Weights: LosslessStringConvertible {
    private static let named: [(name: String, weights: Self)] = [
        ("float16", .float16), ("int8", .int8), ("uint8", .uint8), ("int4", .int4),
        ("uint4", .uint4),
    ]
    static let paletteBits = [1, 2, 3, 4, 6, 8]

    /// All that can be asked for.
    public static var allNames: [String] {
        named.map(\.name) + paletteBits.map { Self.palette(bits: $0).description }
    }

    public init?(_ description: String) {
        let palettes = Self.paletteBits.map { Self.palette(bits: $0) }
        let all = Self.named.map(\.weights) + palettes
        guard let found = all.first(where: { $0.description == description }) else { return nil }
        self = found
    }

    public var description: String {
        if case .palette(let bits) = self { return "palette\(bits)" }
        return Self.named.first { $0.weights == self }?.name ?? "unchanged"
    }

    /// The type of the stored numbers; that of a package's floats where they stay what they are.
    var dataType: MILDataType {
        switch self {
        case .unchanged: .float32
        case .float16: .float16
        case .int8: .int8
        case .uint8: .uint8
        case .int4: .int4
        case .uint4: .uint4
        case .palette(let bits): MILDataType(indexBits: bits)
        }
    }

    var isPalette: Bool {
        if case .palette = self { true } else { false }
    }

    /// Whether scales or tables are shared by blocks of a weight.
    var hasBlocks: Bool { self != .unchanged && self != .float16 }
}

extension MILDataType {
    fileprivate init(indexBits: Int) {
        switch indexBits {
        case 1: self = .uint1
        case 2: self = .uint2
        case 3: self = .uint3
        case 4: self = .uint4
        case 6: self = .uint6
        default: self = .uint8
        }
    }
}

extension QuantizationScheme {
    var isSparse: Bool {
        if case .ratio = pruning { return true }
        return sparsity > 0
    }

    var pruningAxis: ChannelAxis {
        if let chosenPruningAxis { return chosenPruningAxis }
        if case .ratio = pruning { return .input }
        return .output
    }

    /// For example `sparse 0.5 in blocks of 4`; nil where nothing becomes zero.
    fileprivate var sparsityDescription: String? {
        let axis = chosenPruningAxis.map { " along \($0.rawValue) channels" } ?? ""
        switch pruning {
        case .ratio(let zeros, let count): return "sparse \(zeros):\(count)\(axis)"
        case .blocks(let size): return "sparse \(sparsity) in blocks of \(size)\(axis)"
        case .single: return sparsity > 0 ? "sparse \(sparsity)" : nil
        }
    }

    private func checkPruning() throws {
        guard sparsity >= 0, sparsity < 1 else {
            throw Self.wrong(
                "sparsity \(sparsity)", "it is the share of numbers that become zero",
                "Choose one from 0 to below 1.")
        }
        switch pruning {
        case .single: break
        case .blocks(let size):
            guard size > 1, sparsity > 0 else {
                throw Self.wrong(
                    "blocks of \(size)", "whole blocks become zero until the sparsity is reached",
                    "Choose 2 or more, and a sparsity above 0.")
            }
        case .ratio(let zeros, let count):
            guard zeros > 0, zeros < count, sparsity == 0 else {
                throw Self.wrong(
                    "ratio \(zeros):\(count)",
                    "it says itself how many numbers become zero, and some have to stay",
                    "Choose one such as 2:4, and no sparsity.")
            }
        }
    }
}

extension QuantizationScheme: CustomStringConvertible {
    var chosenGranularity: Granularity {
        granularity ?? (weights.isPalette ? .perTensor : .perChannel)
    }

    /// For example `int4 per-block 32`.
    public var description: String {
        var words = weights == .unchanged ? [] : ["\(weights)"]
        if weights.hasBlocks { words.append(chosenGranularity.rawValue) }
        if weights.hasBlocks, [.perBlock, .perGroup].contains(chosenGranularity) {
            words.append("\(blockSize)")
        }
        if weights.hasBlocks, !weights.isPalette, mode == .linear { words.append("linear") }
        if weights.isPalette, paletteMode == .uniform { words.append("uniform") }
        if let sparsityDescription { words.append(sparsityDescription) }
        return words.joined(separator: " ")
    }
}

extension QuantizationScheme {
    /// The first deployment target with operations that decompress such weights.
    var firstTarget: DeploymentTarget {
        if isSparse, weights.hasBlocks { return .iOS18 }
        switch weights {
        case .int4, .uint4, .palette(bits: 3): return .iOS18
        case .float16, .unchanged: return .iOS16
        default:
            return [.perBlock, .perGroup].contains(chosenGranularity) ? .iOS18 : .iOS16
        }
    }

    /// - Throws: `ConversionError` if these choices do not go together, or not with a package for
    ///   `target`. A package for iOS15 is raised to a later target as needed: iOS15 has no
    ///   compressed weights at all. A later target was chosen, and stays.
    func check(_ target: DeploymentTarget) throws {
        let fits: [Granularity] =
            weights.isPalette ? [.perTensor, .perGroup] : [.perTensor, .perChannel, .perBlock]
        guard granularity.map(fits.contains) ?? true else {
            throw Self.wrong(
                "granularity \(chosenGranularity.rawValue)",
                "\(weights) takes \(fits.map(\.rawValue).joined(separator: ", "))",
                "Choose one of these.")
        }
        guard blockSize > 0, threshold >= 0 else {
            throw Self.wrong(
                "block size \(blockSize), threshold \(threshold)", "both count numbers",
                "Choose a block size above 0, and a threshold of 0 or more.")
        }
        try checkPruning()
        guard weights != .unchanged || isSparse else {
            throw Self.wrong("weights", "nothing is to be done", "Choose weights, or a sparsity.")
        }
        guard !isSparse || weights != .float16 else {
            var error = Self.wrong(
                sparsityDescription ?? "", "sparse weights do not become float16",
                "Export with float16 precision, and make those weights sparse.")
            error.remedies = [Remedy("precision", "float16")]
            throw error
        }
        guard target >= firstTarget || target == .iOS15 else {
            var error = Self.wrong(
                "\(self)",
                "a package for \(target) cannot unpack that: it needs \(firstTarget)",
                "Export again for \(firstTarget), or choose other weights.")
            error.remedies = [Remedy("target", "\(firstTarget)")]
            throw error
        }
    }

    private static func wrong(_ place: String, _ rule: String, _ remedy: String) -> ConversionError
    {
        var error = ConversionError(place: place, rule: rule, remedy: remedy)
        error.cause = .option
        return error
    }
}

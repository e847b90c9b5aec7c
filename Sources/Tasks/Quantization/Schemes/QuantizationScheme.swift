import RetintFiles
import RetintMIL
import RetintMLPackage

/// How a weight of a package is compressed. Option names and meanings are those of coremltools.
public struct QuantizationScheme: Hashable, Sendable {
    /// The data type of the compressed weights.
    public enum Weights: Hashable, Sendable {
        /// The original precision: for weights that are only pruned.
        case unchanged
        /// Half precision: for packages that compute in float32.
        case float16
        /// Integers with a scale, and in linear mode a zero point.
        case int8, uint8, int4, uint4
        /// Indices into a lookup table (palette) of 2^bits values; bits are 1, 2, 3, 4, 6 or 8.
        case palette(bits: Int)
    }

    /// Which elements share a scale or a lookup table.
    public enum Granularity: String, CaseIterable, Sendable {
        /// One scale or table for the whole weight.
        case perTensor = "per-tensor"
        /// One scale for each output channel.
        case perChannel = "per-channel"
        /// One scale for each output channel and block of input channels.
        case perBlock = "per-block"
        /// One table for each group of output channels (`per_grouped_channel`).
        case perGroup = "per-group"
    }

    /// How integers represent a range of values.
    public enum Mode: String, CaseIterable, Sendable {
        /// The range is symmetric about zero (`linear_symmetric`).
        case symmetric
        /// The range of the values, extended to include zero, with a zero point (`linear`).
        case linear
    }

    /// How the values of a lookup table are chosen.
    public enum PaletteMode: String, CaseIterable, Sendable {
        /// Optimal k-means: the table with the least squared error.
        case kmeans
        /// Equal steps from the minimum to the maximum.
        case uniform
    }

    /// The structure of sparsity: which elements become zero together.
    public enum Pruning: Hashable, Sendable {
        /// Unstructured: the elements of the smallest magnitude.
        case single
        /// Blocks of this many channels: those with the smallest sum of squares (`block_size`).
        case blocks(of: Int)
        /// n:m sparsity: n of every m neighboring channels become zero (`n_m_ratio`); `sparsity`
        /// stays 0.
        case ratio(zeros: Int, of: Int)
    }

    /// The channels of a weight: of the operation's output or of its input.
    public enum ChannelAxis: String, CaseIterable, Sendable {
        /// The output channels or the input channels.
        case output, input
    }

    /// The data type of the compressed weights.
    public var weights: Weights
    /// Nil for the default: one scale per channel for integers, one table per tensor for palettes.
    public var granularity: Granularity?
    /// For integers only.
    public var mode = Mode.symmetric
    /// For palettes only.
    public var paletteMode = PaletteMode.kmeans
    /// The input channels per block, or the output channels per group.
    public var blockSize: Int
    /// The fraction of elements that become zero, 0 ≤ sparsity < 1.
    public var sparsity = 0.0
    /// The structure of sparsity.
    public var pruning = Pruning.single
    /// The channels along which blocks and n:m groups lie (coremltools' `dim`). Nil for the
    /// default: output channels for blocks, input channels for n:m sparsity.
    public var chosenPruningAxis: ChannelAxis?
    /// Weights with no more elements than this are not compressed. Nil for the default: 2048, but 0
    /// where the other input of the operation is quantized, so that integers are multiplied.
    public var threshold: Int?

    /// A scheme with the default mode and without sparsity.
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

    /// The names that `init(_:)` accepts.
    public static var allNames: [String] {
        named.map(\.name) + paletteBits.map { Self.palette(bits: $0).description }
    }

    /// Parses a name such as `int8` or `palette4`; nil if there is no such data type.
    public init?(_ description: String) {
        let palettes = Self.paletteBits.map { Self.palette(bits: $0) }
        let all = Self.named.map(\.weights) + palettes
        guard let found = all.first(where: { $0.description == description }) else { return nil }
        self = found
    }

    /// For example `int8` or `palette4`.
    public var description: String {
        if case .palette(let bits) = self { return "palette\(bits)" }
        return Self.named.first { $0.weights == self }?.name ?? "unchanged"
    }

    /// The data type of the stored values or codes; float32 if they are unchanged.
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

    /// Whether they are indices into a lookup table.
    public var isPalette: Bool {
        if case .palette = self { true } else { false }
    }

    /// Whether they are integers with scales.
    public var isInteger: Bool { hasBlocks && !isPalette }

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

    /// For example `sparse 0.5 in blocks of 4`; nil without sparsity.
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
            throw ConversionError.option(
                "sparsity \(sparsity)", "the sparsity is the fraction of elements that become zero",
                "Choose a sparsity of at least 0 and below 1.")
        }
        switch pruning {
        case .single: break
        case .blocks(let size):
            guard size > 1, sparsity > 0 else {
                throw ConversionError.option(
                    "blocks of \(size)",
                    "block sparsity needs blocks of at least 2 channels and a sparsity above 0",
                    "Choose a block size of 2 or more and a sparsity above 0.")
            }
        case .ratio(let zeros, let count):
            guard zeros > 0, zeros < count, sparsity == 0 else {
                throw ConversionError.option(
                    "ratio \(zeros):\(count)",
                    "n:m sparsity needs 0 < n < m, and allows no other sparsity",
                    "Choose a ratio such as 2:4 and leave the sparsity at 0.")
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
        if weights.isInteger, mode == .linear { words.append("linear") }
        if weights.isPalette, paletteMode == .uniform { words.append("uniform") }
        if let sparsityDescription { words.append(sparsityDescription) }
        return words.joined(separator: " ")
    }
}

extension QuantizationScheme {
    /// The earliest deployment target with operations that decompress such weights.
    var firstTarget: DeploymentTarget {
        if isSparse, weights.hasBlocks { return .iOS18 }
        switch weights {
        case .int4, .uint4, .palette(bits: 3): return .iOS18
        case .float16, .unchanged: return .iOS16
        default:
            return [.perBlock, .perGroup].contains(chosenGranularity) ? .iOS18 : .iOS16
        }
    }

    /// Checks that the options are consistent and that a package for `target` supports them.
    ///
    /// iOS15, the default target of an export, supports no compressed weights, so such a package is
    /// raised to the target it needs. Any later target was chosen deliberately and is kept.
    ///
    /// - Throws: `ConversionError` for inconsistent options or an earlier target.
    func check(_ target: DeploymentTarget) throws {
        let supported: [Granularity] =
            weights.isPalette ? [.perTensor, .perGroup] : [.perTensor, .perChannel, .perBlock]
        guard granularity.map(supported.contains) ?? true else {
            throw ConversionError.option(
                "granularity \(chosenGranularity.rawValue)",
                "\(weights) takes \(supported.map(\.rawValue).joined(separator: ", "))",
                "Choose one of these granularities.")
        }
        guard blockSize > 0, threshold ?? 0 >= 0 else {
            throw ConversionError.option(
                "block size \(blockSize), threshold \(threshold ?? 0)",
                "the block size must be positive, and the threshold must not be negative",
                "Choose a block size above 0 and a threshold of 0 or more.")
        }
        try checkPruning()
        guard weights != .unchanged || isSparse else {
            throw ConversionError.option(
                "weights", "the scheme neither quantizes nor prunes",
                "Choose a data type or a sparsity.")
        }
        guard !isSparse || weights != .float16 else {
            var error = ConversionError.option(
                sparsityDescription ?? "", "sparse weights cannot be stored as float16",
                "Export with float16 precision, then prune that package.")
            error.remedies = [Remedy(.precision, "float16")]
            throw error
        }
        try target.require(
            firstTarget, "\(self)", "decompress it: this scheme needs",
            "Export again for \(firstTarget), or choose another scheme.")
    }
}

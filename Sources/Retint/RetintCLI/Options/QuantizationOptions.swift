import ArgumentParser
import Retint

/// The scheme of all weights without their own scheme.
struct SchemeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The type of weights: \(QuantizationScheme.Weights.allNames.joined(separator: ", ")).",
            valueName: "kind"))
    var weights: QuantizationScheme.Weights?

    @Option(
        help: """
            The values that share a scale (per-tensor, per-channel, per-block) or a palette \
            (per-tensor, per-group); default: a scale per channel, a palette per tensor.
            """)
    var granularity: QuantizationScheme.Granularity?

    @Option(
        help: """
            For integers: symmetric scales, or linear ones with a zero point; default: symmetric.
            """)
    var mode: QuantizationScheme.Mode?

    @Option(
        help: .rare(
            """
            For palettes: least squared error (kmeans) or equal steps (uniform); default: kmeans.
            """))
    var paletteMode: QuantizationScheme.PaletteMode?

    @Option(
        help: "The number of input channels per block, or output channels per group; default: 32.")
    var blockSize: Int?

    @Option(
        help: "The share of each weight's values that are pruned to zero, smallest first.")
    var sparsity = 0.0

    @Option(
        help: .rare("With --sparsity: the number of consecutive output channels pruned together."))
    var sparsityBlock: Int?

    @Option(
        help: ArgumentHelp(
            "n:m sparsity: prune n of every m input channels, for example 2:4.",
            valueName: "n:m"))
    var sparsityRatio: SparsityRatio?

    @Option(help: .rare("The channels along which blocks and ratios run, if not the default."))
    var sparsityAxis: QuantizationScheme.ChannelAxis?

    @Option(
        help: .rare(
            """
            Weights with at most this many values are not changed; default: 2048, but 0 where \
            activations are quantized.
            """))
    var threshold: Int?

    var isEmpty: Bool { weights == nil && sparsity == 0 && sparsityRatio == nil }

    /// The usual schemes, which are compared.
    var usual: [QuantizationScheme] {
        QuantizationScheme.usual.map { scheme in
            var scheme = scheme
            scheme.threshold = threshold
            return scheme
        }
    }

    /// Refuses options that have no effect on such weights.
    func validate() throws {
        let weights = weights ?? .unchanged
        guard granularity == nil || weights.isInteger || weights.isPalette else {
            throw ValidationError("--granularity needs --weights of integers or a palette")
        }
        guard mode == nil || weights.isInteger else {
            throw ValidationError("--mode needs --weights of integers, such as int8")
        }
        guard paletteMode == nil || weights.isPalette else {
            throw ValidationError("--palette-mode needs --weights of a palette, such as palette4")
        }
        guard blockSize == nil || granularity == .perBlock || granularity == .perGroup else {
            throw ValidationError("--block-size needs --granularity per-block or per-group")
        }
        guard sparsityBlock == nil || sparsity != 0 && sparsityRatio == nil else {
            throw ValidationError("--sparsity-block needs --sparsity, without --sparsity-ratio")
        }
        guard sparsityAxis == nil || sparsityBlock != nil || sparsityRatio != nil else {
            throw ValidationError("--sparsity-axis needs --sparsity-block or --sparsity-ratio")
        }
    }

    func scheme() throws -> QuantizationScheme {
        var scheme = QuantizationScheme(weights ?? .unchanged, granularity: granularity)
        if let mode { scheme.mode = mode }
        if let paletteMode { scheme.paletteMode = paletteMode }
        if let blockSize { scheme.blockSize = blockSize }
        (scheme.threshold, scheme.sparsity) = (threshold, sparsity)
        if let sparsityBlock { scheme.pruning = .blocks(of: sparsityBlock) }
        if let sparsityRatio { scheme.pruning = sparsityRatio.pruning }
        scheme.chosenPruningAxis = sparsityAxis
        return scheme
    }
}

/// How the inputs of all operations without their own scheme are quantized.
struct ActivationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The type of the inputs of operations: \
            \(ActivationScheme.Integers.allCases.map(\.rawValue).joined(separator: ", ")).
            """, valueName: "kind"))
    var activations: ActivationScheme.Integers?

    @Option(
        help: .rare(
            """
            With --activations: symmetric ranges, or linear ones with a zero point; default: \
            symmetric.
            """))
    var activationMode: QuantizationScheme.Mode?

    @Option(
        help: ArgumentHelp(
            """
            With --activations: the ranges that calibration finds: \
            \(ActivationScheme.Range.allNames.joined(separator: ", ")), where percentile may be \
            followed by a number, as in percentile99.9; default: mse.
            """, valueName: "range"))
    var activationRange: ActivationScheme.Range?

    @Option(
        name: .customLong("smooth"),
        help: ArgumentHelp(
            """
            With --activations: even out the ranges of a value's channels by powers of two that \
            move into the weights; from 0 to 1, as SmoothQuant's alpha.
            """, valueName: "alpha"))
    var smoothing: Double?

    /// Whether there are options that only say how activations are quantized.
    var refinesScheme: Bool { activationMode != nil || activationRange != nil }

    var scheme: ActivationScheme? {
        activations.map {
            ActivationScheme($0, mode: activationMode ?? .symmetric, range: activationRange ?? .mse)
        }
    }
}

/// An argument of the form `n:m`.
struct SparsityRatio: ExpressibleByArgument {
    let pruning: QuantizationScheme.Pruning

    init?(argument: String) {
        let parts = argument.split(separator: ":").map { Int($0) }
        guard parts.count == 2, let zeros = parts[0], let count = parts[1] else { return nil }
        pruning = .ratio(zeros: zeros, of: count)
    }
}

extension QuantizationScheme.Weights: ExpressibleByArgument {}
extension QuantizationScheme.Granularity: ExpressibleByArgument {}
extension QuantizationScheme.Mode: ExpressibleByArgument {}
extension QuantizationScheme.ChannelAxis: ExpressibleByArgument {}
extension QuantizationScheme.PaletteMode: ExpressibleByArgument {}
extension ActivationScheme.Integers: ExpressibleByArgument {}
extension ActivationScheme.Range: ExpressibleByArgument {}

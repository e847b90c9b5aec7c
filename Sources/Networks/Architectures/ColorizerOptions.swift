/// The options of the architectures.
///
/// To add one, add a property, a parameter of the initializer and a row of `table`, and use it in
/// a network. Its text in checkpoints, its key of a training's configuration, its flag, its range
/// check and its documentation follow from the row.
public struct ColorizerOptions: Hashable, Sendable {
    /// A factor for the number of channels; 1 is the published network.
    public var width: Double
    /// A factor for the number of repeated blocks.
    public var depth: Double
    /// An additional factor for the decoder's channels, for networks whose encoder can start from
    /// published weights, which fit only one width.
    public var decoderWidth: Double
    /// The temperature of a classifying network: its logits are divided by it before the mean color
    /// is taken. Below 1, colors are more vivid; nil is the architecture's own.
    public var temperature: Double?
    /// A factor for the a and b that a classifying network predicts, called `saturation` in files
    /// and flags. A mean over possible colors is grayer than each of them; above 1 corrects for it.
    ///
    /// It belongs to the network and is exported with it. The `saturation` of `retint colorize`
    /// scales one command's output, and `loss.saturation` weighs colorful pixels in training.
    public var chromaScale: Double
    /// ``chromaScale`` of the network's vivid colors, which are livelier and less accurate; nil:
    /// there are none. See ``ColorStyle``.
    public var vividChromaScale: Double?
    /// How much paler the colors of a classifying network become where the hue is uncertain: a and
    /// b are multiplied by the agreement of the likely colors to this power. The agreement is the
    /// chroma of their mean divided by the mean of their chromas, 0…1. At 0, this has no effect.
    public var certainty: Double
    /// How much less likely colorful bins of a classifying network become: the logit of each bin is
    /// lowered by this × chroma / 50, before the temperature divides it. Training with
    /// `loss.rebalance` makes rare colors, which are the colorful ones, more likely than they are
    /// in photos; this corrects for it, so that grays stay grayer. At 0, this has no effect.
    public var neutrality: Double
    /// Whether SIGGRAPH17 has its 529-way classification head, as its released weights do.
    public var hasClassHead: Bool
    /// Whether each re-parameterized convolution is a single convolution, as on devices,
    /// instead of the branches that it is trained with.
    public var isFolded: Bool

    /// Creates options, by default those of the published networks. Ranges are checked by
    /// ``NetworkDescription/make()``.
    ///
    /// - Parameters:
    ///   - width: a factor for the number of channels, 0.0625…4.
    ///   - depth: a factor for the number of repeated blocks, 0.25…4.
    ///   - decoderWidth: one more factor for the decoder's channels, 0.0625…4.
    ///   - temperature: the divisor of a classifying network's logits, 0.05…10; nil for the
    ///     architecture's own.
    ///   - chromaScale: a factor for the a and b of a classifying network, 0…4.
    ///   - vividChromaScale: the factor of vivid colors, 0…4; nil for none.
    ///   - certainty: the power of the agreement that a and b are multiplied by, 0…4.
    ///   - neutrality: the logit of each bin is lowered by this × chroma / 50, 0…4.
    ///   - hasClassHead: whether SIGGRAPH17 has its 529-way classification head.
    ///   - isFolded: whether each re-parameterized convolution is a single convolution.
    public init(
        width: Double = 1, depth: Double = 1, decoderWidth: Double = 1,
        temperature: Double? = nil, chromaScale: Double = 1, vividChromaScale: Double? = nil,
        certainty: Double = 0, neutrality: Double = 0, hasClassHead: Bool = true,
        isFolded: Bool = false
    ) {
        self.width = width
        self.depth = depth
        self.decoderWidth = decoderWidth
        self.temperature = temperature
        self.chromaScale = chromaScale
        self.vividChromaScale = vividChromaScale
        self.certainty = certainty
        self.neutrality = neutrality
        self.hasClassHead = hasClassHead
        self.isFolded = isFolded
    }
}

extension ColorizerOptions {
    /// All options, in the order in which a configuration lists them.
    public static let table: [ArchitectureOption] = [
        .number("width", \.width, in: 0.0625...4, "a factor for the number of channels"),
        .number("depth", \.depth, in: 0.25...4, "a factor for the number of repeated blocks"),
        .number(
            "decoder_width", \.decoderWidth, in: 0.0625...4,
            "one more factor for the decoder's channels", isRequired: true),
        .number(
            "temperature", optional: \.temperature, in: 0.05...10,
            "divides the logits of the bins: below 1, colors are more vivid"),
        .number(
            "saturation", \.chromaScale, in: 0...4, "a factor for the predicted a and b",
            isRequired: true),
        .number(
            "vivid_saturation", optional: \.vividChromaScale, in: 0...4,
            "the saturation of vivid colors, which are livelier and less accurate", null: "none",
            isRequired: true),
        .number(
            "certainty", \.certainty, in: 0...4,
            "a and b times the agreement of likely colors, to this power", isRequired: true),
        .number(
            "neutrality", \.neutrality, in: 0...4,
            "makes colorful bins less likely: lowers each logit by this × chroma / 50",
            isRequired: true),
        .flag("class_head", \.hasClassHead, "the 529-way classification head"),
        .flag(
            "folded", \.isFolded, "re-parameterized convolutions folded into one each",
            isTrainable: false),
    ]
}

extension ColorizerOptions {
    /// `channels` times the width, as a multiple of 16.
    public func scaled(_ channels: Int) -> Int { Self.rounded(Double(channels) * width) }

    /// `channels` times both widths, as a multiple of 16.
    public func scaledInDecoder(_ channels: Int) -> Int {
        Self.rounded(Double(channels) * width * decoderWidth)
    }

    private static func rounded(_ channels: Double) -> Int {
        max(16, Int((channels / 16).rounded()) * 16)
    }

    /// `count` times the depth, at least 1.
    public func repeated(_ count: Int) -> Int {
        max(1, Int((Double(count) * depth).rounded()))
    }
}

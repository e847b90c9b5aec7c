import Layers
import TensorGraph

/// A network that estimates color from lightness.
///
/// It is a function from L, [N, 1, H, W] in 0…100, to a and b, [N, 2, H, W] in −110…110, with H
/// and W multiples of ``requiredMultiple``; other sizes leave an error in the graph.
public protocol ColorizerNetwork: Layer {
    /// The name by which ``makeColorizer(_:options:)`` knows the architecture.
    static var architecture: String { get }
    /// What the height and width of its input must be multiples of.
    static var requiredMultiple: Int { get }
    /// Whether its decoder can have a width of its own, ``ColorizerOptions/decoderWidth``.
    static var scalesDecoder: Bool { get }
    /// Whether its color is the mean of a distribution, which ``ColorizerOptions/saturation``
    /// multiplies.
    static var annealsMean: Bool { get }

    init(options: ColorizerOptions)
}

/// What can be chosen about an architecture.
public struct ColorizerOptions: Hashable, Sendable {
    /// A factor for the number of channels; 1 is the published network.
    public var width: Double
    /// A factor for the number of blocks where a network repeats them; the references do not.
    public var depth: Double
    /// One more factor for the channels of a decoder whose encoder can start from published weights,
    /// which fit one width: ``ColorizerNetwork/scalesDecoder`` says whether a network has such a one.
    public var decoderWidth: Double
    /// Whether SIGGRAPH17 carries its 529-way classification head, as its released weights do.
    public var hasClassHead: Bool
    /// By what a classifying network divides its logits before it takes the mean color: below 1,
    /// colors get more vivid. nil: what the architecture says.
    public var temperature: Double?
    /// A factor for a and b of a classifying network. The mean of the colors that it thinks possible
    /// lies nearer to gray than each of them; above 1, this makes up for it.
    public var saturation: Double
    /// Whether re-parameterised convolutions are one convolution each, as they run on devices,
    /// rather than the branches that they learn with.
    public var isFolded: Bool

    public init(
        width: Double = 1, depth: Double = 1, decoderWidth: Double = 1, hasClassHead: Bool = true,
        temperature: Double? = nil, saturation: Double = 1, isFolded: Bool = false
    ) {
        self.width = width
        self.depth = depth
        self.decoderWidth = decoderWidth
        self.hasClassHead = hasClassHead
        self.temperature = temperature
        self.saturation = saturation
        self.isFolded = isFolded
    }

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

extension ColorizerNetwork {
    public var architecture: String { Self.architecture }
    public var requiredMultiple: Int { Self.requiredMultiple }
    public static var scalesDecoder: Bool { false }
    public static var annealsMean: Bool { false }

    /// Records an error in the graph unless `lightness` is [N, 1, H, W] of a size that fits.
    public func checkInput(_ lightness: Tensor) {
        let shape = lightness.shape
        let multiple = Self.requiredMultiple
        guard shape.rank == 4, shape[1] == 1 else {
            return reject(lightness, "takes lightness as [N, 1, H, W]")
        }
        if shape[2] % multiple != 0 || shape[3] % multiple != 0 {
            reject(lightness, "takes a height and width that are multiples of \(multiple)")
        }
    }

    private func reject(_ lightness: Tensor, _ rule: String) {
        lightness.graph.record(ShapeError(rule), Self.architecture, [lightness.shape])
    }
}

/// (L − 50)/100: what all networks here see of the lightness.
public func normalized(_ lightness: Tensor) -> Tensor {
    (lightness - 50) * 0.01
}

/// What a network's −1…1 stands for in units of a and b.
public let abScale: Float = 110

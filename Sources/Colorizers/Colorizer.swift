import Layers
import TensorGraph

/// A network that estimates color from lightness.
///
/// It is a function from L, [N, 1, H, W] in 0…100, to a and b, [N, 2, H, W] in −110…110, with H
/// and W multiples of ``requiredMultiple``; other sizes leave an error in the graph.
public protocol Colorizer: Layer {
    /// The name by which ``makeColorizer(_:options:)`` knows the architecture.
    static var architecture: String { get }
    /// What the height and width of its input must be multiples of.
    static var requiredMultiple: Int { get }

    init(options: ColorizerOptions)
}

/// What can be chosen about an architecture.
public struct ColorizerOptions: Hashable, Sendable {
    /// A factor for the number of channels; 1 is the published network.
    public var width: Double
    /// Whether SIGGRAPH17 carries its 529-way classification head, as its released weights do.
    public var hasClassHead: Bool

    public init(width: Double = 1, hasClassHead: Bool = true) {
        self.width = width
        self.hasClassHead = hasClassHead
    }

    /// `channels` times the width, as a multiple of 16.
    func scaled(_ channels: Int) -> Int {
        max(16, Int((Double(channels) * width / 16).rounded()) * 16)
    }
}

extension Colorizer {
    public var architecture: String { Self.architecture }
    public var requiredMultiple: Int { Self.requiredMultiple }

    /// Records an error in the graph unless `lightness` is [N, 1, H, W] of a size that fits.
    func checkInput(_ lightness: Tensor) {
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
func normalized(_ lightness: Tensor) -> Tensor {
    (lightness - 50) * 0.01
}

/// What a network's −1…1 stands for in units of a and b.
let abScale: Float = 110

public import RetintGraph
public import RetintLayers
import RetintTensors

/// A network that estimates color from lightness.
///
/// It is a function from L, [N, 1, H, W] in 0…100, to a and b, [N, 2, H, W] in −110…110, with H
/// and W multiples of the required number; other sizes record an error in the graph.
public protocol ColorizerNetwork: Layer {
    /// The name of the architecture in files.
    var architecture: String { get }
    /// The sizes of lightness that the network takes.
    var sizes: InputSizes { get }
}

/// A network that is created from a name and options.
///
/// ``register()`` adds your own to all commands.
public protocol ColorizerArchitecture: ColorizerNetwork {
    /// The name in files and in ``NetworkDescription``.
    static var architecture: String { get }
    /// The input's height and width must be multiples of this number.
    static var requiredMultiple: Int { get }
    /// The options that the network uses, as key paths of ``ColorizerOptions``; by default width
    /// and depth.
    static var options: Set<PartialKeyPath<ColorizerOptions>> { get }

    /// Creates the network, with named parameters.
    init(options: ColorizerOptions)
}

extension ColorizerArchitecture {
    /// The architecture's name.
    public var architecture: String { Self.architecture }
    /// The architecture's multiples.
    public var sizes: InputSizes { .multiples(of: Self.requiredMultiple) }
    /// `width` and `depth`, for a network that states no other options.
    public static var options: Set<PartialKeyPath<ColorizerOptions>> { [\.width, \.depth] }
}

extension ColorizerNetwork {
    /// The height and width of this network's input must be multiples of this number.
    public var requiredMultiple: Int { sizes.multiple }
    /// The only size that the network takes, in pixels; nil if it takes several.
    public var onlySize: Pair? { sizes.only }

    /// Records an error in the graph unless `lightness` is [N, 1, H, W] of a size that fits.
    public func checkInput(_ lightness: Tensor) {
        let shape = lightness.shape
        let multiple = requiredMultiple
        guard shape.rank == 4, shape[1] == 1 else {
            return reject(lightness, "takes lightness as [N, 1, H, W]")
        }
        if let size = onlySize, shape[2] != size.height || shape[3] != size.width {
            return reject(
                lightness, "takes only a height of \(size.height) and a width of \(size.width)")
        }
        if shape[2] % multiple != 0 || shape[3] % multiple != 0 {
            reject(lightness, "takes a height and width that are multiples of \(multiple)")
        }
    }

    private func reject(_ lightness: Tensor, _ rule: String) {
        lightness.graph.record(ShapeError(rule), architecture, [lightness.shape])
    }
}

import RetintGraph

/// Layers applied one after another (`torch.nn.Sequential`), each named by its index; layers
/// without parameters are counted, too.
public final class Sequential: Module, Layer {
    /// The layers in the order of their application.
    public let layers: [any Layer]

    /// Creates a layer that applies these in order; without any it returns its input.
    public init(_ layers: [any Layer]) {
        self.layers = layers
    }

    /// Creates a layer that applies these in order; without any it returns its input.
    public convenience init(_ layers: any Layer...) {
        self.init(layers)
    }

    override func members() -> [Member] {
        layers.enumerated().map { Member(name: String($0), module: $1) }
    }

    /// Applies the layers in order, each to the result of the one before.
    public func forward(_ x: Tensor) -> Tensor {
        layers.reduce(x) { $1($0) }
    }
}

/// Returns its input (`torch.nn.Identity`).
public final class Identity: Module, Layer {
    /// Returns `x` and adds no operation.
    public func forward(_ x: Tensor) -> Tensor { x }
}

import TensorGraph

/// Layers applied one after another (`torch.nn.Sequential`), each named by its index; layers
/// without parameters are counted, too.
public final class Sequential: Module, Layer {
    /// The layers in the order of their application.
    public let layers: [any Layer]

    public init(_ layers: [any Layer]) {
        self.layers = layers
    }

    public convenience init(_ layers: any Layer...) {
        self.init(layers)
    }

    override func members() -> [Member] {
        layers.enumerated().map { Member(name: String($0), module: $1) }
    }

    public func forward(_ x: Tensor) -> Tensor {
        layers.reduce(x) { $1($0) }
    }
}

/// Returns its input (`torch.nn.Identity`).
public final class Identity: Module, Layer {
    public func forward(_ x: Tensor) -> Tensor { x }
}

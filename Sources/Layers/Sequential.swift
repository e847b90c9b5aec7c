import TensorGraph

/// Layers one after another, named by their place (`torch.nn.Sequential`); layers without
/// parameters count as well.
public final class Sequential: Module, Layer {
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

/// Passes x on (`torch.nn.Identity`).
public final class Identity: Module, Layer {
    public func forward(_ x: Tensor) -> Tensor { x }
}

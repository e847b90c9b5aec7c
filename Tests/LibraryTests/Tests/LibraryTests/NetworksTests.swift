import RetintNetworks
import Testing

/// Graphs and layers through the public interface.
@Suite struct NetworksTests {
    @Test func operationsAreEvaluated() throws {
        let x = Graph().input("x", [1, 3])
        let values = TensorData(shape: [1, 3], scalars: [-1, 0, 1])
        let y = try sigmoid(2 * x).evaluate(inputs: ["x": values])
        // torch.sigmoid(2 * torch.tensor([-1., 0., 1.]))
        for (value, expected) in zip(y.scalars, [0.11920292, 0.5, 0.88079708]) {
            #expect(abs(Double(value) - expected) < 1e-6)
        }
    }

    /// A network of one's own is found by its name, with the state dict that PyTorch gives it.
    @Test func aRegisteredNetworkIsMade() throws {
        Halves.register()
        let network = try NetworkDescription.named("halves").make()
        #expect(StateSpec(of: network).tensors.map(\.name) == ["color.weight", "color.bias"])
        let ab = network.forward(Graph().input("lightness", [1, 1, 16, 8]))
        #expect(ab.shape == [1, 2, 16, 8])
    }
}

private final class Halves: Module, ColorizerArchitecture {
    static let architecture = "halves"
    static let requiredMultiple = 1
    let color: Conv2d

    init(options: ColorizerOptions) {
        color = Conv2d(1, 2, kernel: 3, padding: 1)
        super.init()
        assignNames()
    }

    func forward(_ lightness: Tensor) -> Tensor { color(lightness) }
}

import Checkpoints
import Colorizers
import TensorGraph

/// A network whose graph is built from its architecture, for any size that fits.
struct CheckpointSource: ModelSource {
    let name: String
    private let network: any ColorizerNetwork
    private let variables: [String: TensorData]

    init(_ checkpoint: Checkpoint, name: String) throws {
        self.name = name
        let folded = try checkpoint.folded()
        network = try folded.makeColorizer()
        variables = folded.variables
    }

    var preferredSize: (height: Int, width: Int) { (256, 256) }

    func body(for shape: Shape) throws -> ModelBody {
        let multiple = network.requiredMultiple
        guard shape[2].isMultiple(of: multiple), shape[3].isMultiple(of: multiple) else {
            throw ModelError(
                .size, name,
                "the network does not run at \(shape[3]) × \(shape[2]); "
                    + "give a size that is a multiple of \(multiple)")
        }
        let graph = Graph(mode: .inference)
        let ab = network(graph.input("lightness", shape))
        return ModelBody(
            outputs: [("ab", ab)], variables: variables,
            interface: ModelInterface(input: "lightness", outputs: ["ab"]))
    }
}

public import RetintArchitectures
import RetintFiles
import RetintONNXReading
public import RetintTensorFiles
import RetintTensors

extension Checkpoint {
    /// Weights as a state dict that the network's module in PyTorch loads.
    public struct ModuleWeights: Sendable {
        /// Parameters, buffers and counters.
        public let state: StateDict
        /// What does not load as it is, one sentence each.
        public let notes: [String]
    }

    /// The weights as PyTorch has them: an imported network may be run with some of them transposed
    /// or reshaped, as its file does before it uses them.
    ///
    /// - Throws: ``CheckpointError`` if a weight has another shape than the network.
    public func moduleWeights() throws -> ModuleWeights {
        guard case .imported(let definition) = network else {
            return ModuleWeights(state: state, notes: [])
        }
        var (result, computed) = (state, [String]())
        for (name, operation) in definition.changedWeights {
            guard let weight = state[name], let values = weight.tensorData else { continue }
            if let operation {
                computed.append("\(name) (\(operation))")
            } else if let original = definition.original(of: values, named: name) {
                result[name] = StoredTensor(original)
            } else {
                throw CheckpointError(
                    .malformed,
                    problem: "\(name) has shape \(weight.shape), which is not the network's")
            }
        }
        return ModuleWeights(
            state: result, notes: Self.notes(computed: computed, names: result.names))
    }

    private static func notes(computed: [String], names: [String]) -> [String] {
        let lost = names.filter(ONNXModel.isMadeUp)
        return
            (computed.isEmpty
            ? []
            : [
                "not as in the module, which computes them from other weights: "
                    + computed.listed()
            ])
            + (lost.isEmpty
                ? []
                : [
                    "the exporter did not keep the module's names for \(lost.listed()); with "
                        + "dynamo=False, training=torch.onnx.TrainingMode.PRESERVE and "
                        + "do_constant_folding=False, torch.onnx.export does, but for weights that "
                        + "are equal, as those of normalizations in a new network: change them "
                        + "before the export"
                ])
    }
}

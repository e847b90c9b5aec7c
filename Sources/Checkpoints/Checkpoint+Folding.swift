import Colorizers
import Layers
import TensorFiles
import TensorGraph

extension Checkpoint {
    /// The same network as it runs on devices: re-parameterised convolutions as one each. A network
    /// without any, or one that is folded already, stays as it is. What it was trained with is left
    /// out where anything was folded.
    ///
    /// - Throws: what ``makeColorizer()`` throws.
    public func folded() throws -> Checkpoint {
        let values = try makeColorizer().foldedState(variables)
        guard values.keys != variables.keys else { return self }
        var options = try ColorizerOptions(options)
        options.isFolded = true
        var result = Checkpoint(
            architecture: architecture, options: options.texts, state: StateDict(),
            training: training)
        for entry in StateSpec(of: try result.makeColorizer()).entries {
            result.state[entry.name] =
                values[entry.name].map { StoredTensor($0) } ?? state[entry.name]
        }
        return result
    }
}

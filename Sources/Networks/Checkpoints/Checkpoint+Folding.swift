import RetintArchitectures
import RetintGraph
import RetintLayers
import RetintTensorFiles

extension Checkpoint {
    /// Folds each re-parameterized convolution into one, as it runs on devices. A network without
    /// any is returned unchanged; otherwise the optimizer's state is omitted.
    ///
    /// - Throws: the errors of `NetworkDescription.make()`.
    public func folded() throws -> Checkpoint { try madeForInference().checkpoint }

    /// The checkpoint ``folded()``, and its network.
    package func madeForInference() throws -> (
        checkpoint: Checkpoint, network: any ColorizerNetwork
    ) {
        let trained = try network.make()
        guard trained.canBeFolded, case .named(let name, var options) = network else {
            return (self, trained)
        }
        let values = trained.foldedState(variables)
        guard values.keys != variables.keys else { return (self, trained) }
        options.isFolded = true
        var result = Checkpoint(.named(name, options), state: StateDict(), training: training)
        let folded = try result.network.make()
        for entry in StateSpec(of: folded).entries {
            result.state[entry.name] =
                values[entry.name].map { StoredTensor($0) } ?? state[entry.name]
        }
        return (result, folded)
    }
}

import RetintArchitectures
import RetintGraph
import RetintLayers
import RetintTensorFiles

extension Checkpoint {
    /// Folds each re-parameterised convolution into one, as it runs on devices. A network without
    /// any is returned unchanged; otherwise the optimizer's state is omitted.
    ///
    /// - Throws: the errors of ``makeColorizer()``.
    public func folded() throws -> Checkpoint {
        let values = try makeColorizer().foldedState(variables)
        guard values.keys != variables.keys else { return self }
        var options = try ColorizerOptions(options)
        options.isFolded = true
        var result = self
        (result.options, result.state, result.optimizer) = (options.texts, StateDict(), StateDict())
        for entry in StateSpec(of: try result.makeColorizer()).entries {
            result.state[entry.name] =
                values[entry.name].map { StoredTensor($0) } ?? state[entry.name]
        }
        return result
    }
}

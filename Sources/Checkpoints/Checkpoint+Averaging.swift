import TensorFiles
import TensorGraph

extension Checkpoint {
    /// The mean of several trainings' weights: a "model soup" (Wortsman et al. 2022). Trainings that
    /// began with the same weights tend to lie in one valley, whose middle is better than its sides.
    ///
    /// Running statistics are averaged like weights; counters are those of the first checkpoint. What
    /// they were trained with is left out.
    ///
    /// - Parameter checkpoints: with the paths that errors name.
    /// - Throws: ``CheckpointError`` unless all are of one architecture with the same options.
    public static func average(
        _ checkpoints: [(path: String, checkpoint: Checkpoint)]
    ) throws -> Checkpoint {
        guard let (path, first) = checkpoints.first else {
            throw CheckpointError(.badOption, problem: "there is no checkpoint to average")
        }
        for (other, checkpoint) in checkpoints
        where checkpoint.architecture != first.architecture || checkpoint.options != first.options {
            throw CheckpointError(
                .differentNetworks, path: other,
                problem: "holds \(checkpoint.architecture) \(checkpoint.options), but \(path) "
                    + "\(first.architecture) \(first.options); average trainings of one network")
        }
        var result = Checkpoint(
            architecture: first.architecture, options: first.options, state: first.state)
        for name in first.variables.keys.sorted() {
            let values = checkpoints.compactMap { $0.checkpoint.state[name]?.tensorData }
            result.state[name] = StoredTensor(mean(values))
        }
        return result
    }

    /// The mean, taken in double precision.
    ///
    /// - Precondition: there is at least one tensor, and all are of one shape.
    private static func mean(_ tensors: [TensorData]) -> TensorData {
        var sums = [Double](repeating: 0, count: tensors[0].shape.count)
        for tensor in tensors {
            for (index, value) in tensor.scalars.enumerated() { sums[index] += Double(value) }
        }
        let count = Double(tensors.count)
        return TensorData(shape: tensors[0].shape, scalars: sums.map { Float($0 / count) })
    }
}

import RetintArchitectures
import RetintGraph
import RetintTensorFiles
import RetintTensors

extension Checkpoint {
    /// Averages the weights of several trainings into a "model soup" (Wortsman et al. 2022): for
    /// trainings that started from the same weights, the mean is often better than each of them.
    ///
    /// Running statistics are averaged like weights; counters are those of the first checkpoint.
    /// The states of optimizers and trainers are omitted.
    ///
    /// - Parameter checkpoints: the checkpoints, with their names for errors.
    /// - Throws: ``CheckpointError`` unless all are of the same network.
    public static func average(
        _ checkpoints: [(path: String, checkpoint: Checkpoint)]
    ) throws -> Checkpoint {
        guard let (path, first) = checkpoints.first else {
            throw CheckpointError(.badOption, problem: "there are no checkpoints to average")
        }
        for (other, checkpoint) in checkpoints
        where checkpoint.network != first.network {
            let difference =
                checkpoint.network.definition != first.network.definition
                ? "another imported network than \(path)"
                : "\(checkpoint.network), but \(path) \(first.network)"
            throw CheckpointError(
                .differentNetworks, path: other,
                problem: "contains \(difference); average trainings of one network")
        }
        for (other, checkpoint) in checkpoints
        where Set(checkpoint.state.names) != Set(first.state.names) {
            throw CheckpointError(
                .differentNetworks, path: other,
                problem: "was trained with the inputs of layers rounded, or \(path) was; average "
                    + "trainings of one kind")
        }
        for (path, checkpoint) in checkpoints {
            guard let name = checkpoint.nonFiniteTensors.first else { continue }
            throw CheckpointError(
                .malformed, path: path,
                problem: "\(name.debugDescription) has values that are NaN or infinite; "
                    + "average checkpoints whose training did not diverge")
        }
        var result = first
        (result.optimizer, result.training) = (StateDict(), nil)
        for name in first.variables.keys.sorted() {
            let values = checkpoints.compactMap { $0.checkpoint.state[name]?.tensorData }
            result.state[name] = StoredTensor(mean(values))
        }
        return result
    }

    /// The names of the tensors with a NaN or infinite value, in the file's order.
    public var nonFiniteTensors: [String] {
        state.names.filter { state[$0]?.floats?.contains { !$0.isFinite } == true }
    }

    /// The mean, computed in double precision.
    ///
    /// - Precondition: there is at least one tensor, and all have the same shape.
    private static func mean(_ tensors: [TensorData]) -> TensorData {
        var sums = [Double](repeating: 0, count: tensors[0].shape.count)
        for tensor in tensors {
            for (index, value) in tensor.scalars.enumerated() { sums[index] += Double(value) }
        }
        let count = Double(tensors.count)
        return TensorData(shape: tensors[0].shape, scalars: sums.map { Float($0 / count) })
    }
}

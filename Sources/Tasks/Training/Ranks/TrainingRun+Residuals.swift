import RetintDistributed
import RetintGraph
import RetintTensorFiles
import RetintTensors

/// The rounding error of gradients is part of a rank's state. Checkpoints store it for each rank,
/// so that resuming with the same number of ranks gives the same bits. With fewer ranks, the errors
/// of missing ranks are added to those of the others; with more, the new ranks start with zeros.
/// The sum over all ranks stays the same and, apart from rounding, later steps depend only on it.
extension TrainingRun {
    /// The residuals of all ranks, on rank 0, to be saved.
    func savedResiduals(_ variables: [String: TensorData]) throws -> [String: StoredTensor] {
        let names = step.residualNames
        guard !names.isEmpty else { return [:] }
        let all = try ranks.gatherToFirst(scalars: names.flatMap { variables[$0]?.scalars ?? [] })
        var result: [String: StoredTensor] = [:]
        for (rank, scalars) in all.enumerated() {
            var rest = scalars[...]
            for name in names {
                guard let shape = variables[name]?.shape else { continue }
                let value = TensorData(shape: shape, scalars: Array(rest.prefix(shape.count)))
                result[Self.savedName(name, rank)] = StoredTensor(value)
                rest = rest.dropFirst(shape.count)
            }
        }
        return result
    }

    /// The residuals of this rank in the checkpoint; those of missing ranks are added to
    /// those of others.
    var loadedResiduals: [String: TensorData] {
        let saved = checkpoint.optimizerVariables
        var result: [String: TensorData] = [:]
        for name in step.residualNames {
            var rank = ranks.rank
            while let value = saved[Self.savedName(name, rank)] {
                result[name] = result[name].map { $0.adding(value) } ?? value
                rank += ranks.size
            }
        }
        return result
    }

    /// `residual.head.0.weight` of rank 1 → `optimizer.residual.1.head.0.weight`.
    private static func savedName(_ name: String, _ rank: Int) -> String {
        let parameter = name.dropFirst(SharedGradients.residualPrefix.count)
        return "optimizer.\(SharedGradients.residualPrefix)\(rank).\(parameter)"
    }
}

extension TensorData {
    fileprivate func adding(_ other: TensorData) -> TensorData {
        guard other.shape == shape else { return self }
        return TensorData(shape: shape, scalars: zip(scalars, other.scalars).map { $0 + $1 })
    }
}

import RetintCheckpoints
import RetintDistributed
import RetintGraph
import RetintLayers
import RetintTensorFiles
import RetintTensors

/// How far a training got: the values of weights and optimizer, and what is counted. That is what
/// `last.h5` keeps.
///
/// Random numbers need no state: their streams are named by the seed and what they are drawn for,
/// such as an example of an epoch. Of several ranks, all hold the same state.
final class TrainingState {
    /// What the training began with, for names and types.
    private let start: Checkpoint
    /// Steps that were done then.
    let firstStep: Int
    /// The compiled step, which holds the values of variables.
    let step: SizedSteps
    private let ranks: Communicator
    var progress: TrainingProgress

    /// - Parameter file: how errors name the checkpoint.
    /// - Throws: ``TrainingError`` if the checkpoint of a run lacks values of the optimizer.
    init(
        _ start: Checkpoint, _ progress: TrainingProgress, _ step: SizedSteps,
        ranks: Communicator, file: String
    ) throws {
        (self.start, self.step, self.ranks) = (start, step, ranks)
        (self.progress, firstStep) = (progress, progress.step)
        // Records of older versions lack these counts; the next one has them.
        self.progress.meter = meter
        self.progress.consecutiveSkips = consecutiveSkips
        try load(file)
    }

    /// The sums over the steps since the last record.
    var meter: StepMeter {
        get { progress.meter ?? StepMeter() }
        set { progress.meter = newValue }
    }

    /// Consecutive steps whose loss or gradient was not finite.
    var consecutiveSkips: Int {
        get { progress.consecutiveSkips ?? 0 }
        set { progress.consecutiveSkips = newValue }
    }

    /// Counts a step for the scale of the loss.
    ///
    /// - Returns: whether gradients overflowed that may not with the next scale.
    func countOverflow(_ result: TrainingStep.Result) -> Bool {
        guard let scale = progress.lossScale else { return false }
        progress.lossScale?.count(isFinite: result.isFinite)
        return !result.isFinite && result.loss.isFinite && scale.canFall
    }

    /// Loads weights and the optimizer's state into the step.
    private func load(_ file: String) throws {
        var variables = step.initialOptimizerState
        if progress.step > 0 {
            let saved = start.optimizerVariables.reduce(into: [:]) {
                $0[CheckpointFormat.variable(named: $1.key)] = $1.value
            }
            let missing = variables.keys.filter { saved[$0] == nil }.sorted()
            guard missing.isEmpty else { throw lacks(missing[0], file) }
            variables.merge(saved) { $1 }
            variables.merge(ownResiduals(of: saved)) { $1 }
        }
        try step.load(start.variables)
        try step.load(variables)
    }

    /// The keys that determine which parameters are trained, and what is kept for each.
    private static let keysOfState: Set = [
        "freeze", "accumulate", "optimizer.kind", "optimizer.momentum", "optimizer.ema",
        "loss.kind", "loss.class_weight",
    ]

    /// The error that the checkpoint of a run has no value of a variable, with the changed keys.
    private func lacks(_ variable: String, _ file: String) -> TrainingError {
        let before = start.training.flatMap { TrainingProgress(json: $0)?.settings }
        let changes =
            before.flatMap { progress.settings?.differences(from: $0, in: Self.keysOfState) } ?? []
        let reason =
            changes.isEmpty ? "" : ", which is needed for " + changes.joined(separator: ", ")
        return TrainingError(
            .cannotResume, file: file,
            "has no \(variable)\(reason); resume with the settings it was trained with, or start a "
                + "new run with init=\(file)")
    }

    /// Averaged weights if there are any, otherwise the weights themselves.
    func validatedWeights() throws -> [String: TensorData] {
        let variables = try withFirstStatistics(step.variables)
        let averaged = averagedParameters(in: variables)
        return averaged.isEmpty ? variables : variables.merging(averaged) { $1 }
    }

    /// The state as a checkpoint; nil on all ranks but the first.
    ///
    /// - Throws: ``TrainingError`` if the weights of a rank are no longer those of rank 0.
    func checkpoint() throws -> Checkpoint? {
        let variables = step.variables
        try requireEqualWeights(variables)
        let residuals = try savedResiduals(variables)
        guard ranks.rank == 0 else { return nil }
        var saved = network(of: variables)
        for name in step.initialOptimizerState.keys.sorted() {
            let value = variables[name].map { StoredTensor($0) }
            if let value { saved.optimizer[CheckpointFormat.entry(of: name)] = value }
        }
        for (name, value) in residuals.sorted(by: { $0.key < $1.key }) {
            saved.optimizer[name] = value
        }
        saved.training = try progress.json()
        return saved
    }

    /// Weights as a checkpoint, with PyTorch's `num_batches_tracked` counted on.
    func network(of variables: [String: TensorData]) -> Checkpoint {
        var result = start
        (result.optimizer, result.training) = (StateDict(), nil)
        let batches = Int64(progress.step - firstStep)
        for (name, tensor) in start.state {
            if let value = variables[name] {
                result.state[name] = StoredTensor(value)
            } else if let count = tensor.integers?.first {
                let (sum, overflows) = count.addingReportingOverflow(batches)
                result.state[name] = StoredTensor(integer: overflows ? count : sum)
            }
        }
        return result
    }
}

// MARK: Ranks

extension TrainingState {
    /// - Throws: ``TrainingError`` if a rank would train differently from rank 0.
    func requireEqualRanks() throws {
        guard ranks.size > 1 else { return }
        // Each rank has its own rounding errors.
        let equal = step.variables.filter { !$0.key.hasPrefix(SharedGradients.residualPrefix) }
        let comparison = RankComparison(
            configuration: RankComparison.withoutGPU(progress.configuration), step: progress.step,
            photos: progress.photos ?? "", weights: equal.digest, messages: step.messages)
        try comparison.requireEqual(on: ranks)
    }

    /// The variables with the running statistics of rank 0: if batch normalization normalizes
    /// with the crops of each rank, those of other ranks differ.
    private func withFirstStatistics(
        _ variables: [String: TensorData]
    ) throws -> [String: TensorData] {
        guard ranks.size > 1 else { return variables }
        let names = step.statisticNames.sorted().filter { variables[$0] != nil }
        var scalars = try ranks.broadcast(names.flatMap { variables[$0]?.scalars ?? [] })[...]
        var result = variables
        for name in names {
            guard let shape = variables[name]?.shape else { continue }
            result[name] = TensorData(shape: shape, scalars: Array(scalars.prefix(shape.count)))
            scalars = scalars.dropFirst(shape.count)
        }
        return result
    }

    /// All ranks take the same steps; on processors of different kinds, the results can differ in
    /// their last bits.
    ///
    /// - Throws: ``TrainingError`` if the weights of a rank are no longer those of rank 0.
    private func requireEqualWeights(_ variables: [String: TensorData]) throws {
        guard ranks.size > 1 else { return }
        let trained = Set(step.parameterNames).union(step.initialOptimizerState.keys)
            .subtracting(step.statisticNames)
        let equal = variables.filter { trained.contains($0.key) }
        let digests = try ranks.gather(Array(equal.digest.utf8))
        guard let rank = digests.firstIndex(where: { $0 != digests[0] }) else { return }
        throw TrainingError(
            .ranksDiffer,
            "rank \(rank): has other weights than rank 0 after step \(progress.step); nothing was "
                + "saved since. Run all ranks on processors of the same kind, and resume")
    }
}

// MARK: Residuals

/// The rounding error of gradients is part of a rank's state. Checkpoints store it for each rank,
/// so that resuming with the same number of ranks gives the same bits. With fewer ranks, the errors
/// of missing ranks are added to those of the others; with more, the new ranks start with zeros.
/// The sum over all ranks stays the same and, apart from rounding, later steps depend only on it.
extension TrainingState {
    /// The residuals of all ranks, on rank 0, to be saved.
    private func savedResiduals(
        _ variables: [String: TensorData]
    ) throws -> [String: StoredTensor] {
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

    /// The residuals of this rank in the optimizer's saved state; those of missing ranks are added
    /// to those of others.
    private func ownResiduals(of saved: [String: TensorData]) -> [String: TensorData] {
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

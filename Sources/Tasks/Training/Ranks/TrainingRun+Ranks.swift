import RetintDistributed
import RetintGraph
import RetintTensors

extension TrainingConfiguration {
    /// This configuration with the batch that the ranks split.
    ///
    /// - Throws: ``TrainingError`` for a value out of range, or a batch with less than one crop per
    ///   rank.
    func shared(over ranks: Communicator) throws(TrainingError) -> TrainingConfiguration {
        var result = self
        if let batchPerRank {
            result.batch = batchPerRank.multipliedReportingOverflow(by: ranks.size).partialValue
        }
        try result.requireValuesInRange()
        guard result.batch >= ranks.size else {
            throw TrainingError(
                at: "batch",
                "is \(result.batch), less than one crop for each of \(ranks.size) ranks; raise it, "
                    + "or start fewer ranks")
        }
        return result
    }
}

extension TrainingRun {
    /// Reports, on rank 0, the photos that any rank could not read.
    func reportBadPhotosOfAll() throws {
        guard ranks.size > 1 else { return }
        let own = takeUnreportedPhotos().joined(separator: "\n")
        let all = try ranks.gatherToFirst(Array(own.utf8))
        guard ranks.rank == 0 else { return }
        let photos = all.flatMap { String(decoding: $0, as: UTF8.self).split(separator: "\n") }
        for photo in Set(photos).sorted() { report(.badPhoto(String(photo))) }
    }

    /// - Throws: ``TrainingError`` if a rank would train differently from rank 0.
    func requireEqualRanks() throws {
        guard ranks.size > 1 else { return }
        // Each rank has its own rounding errors.
        let equal = step.variables.filter { !$0.key.hasPrefix(SharedGradients.residualPrefix) }
        let comparison = RankComparison(
            configuration: configuration.yaml, step: progress.step,
            photos: progress.photos ?? "", weights: equal.digest, messages: step.messages)
        try comparison.requireEqual(on: ranks)
    }

    /// The variables with the running statistics of rank 0: if batch normalization normalizes
    /// with the crops of each rank, those of other ranks differ.
    func withFirstStatistics(
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
    func requireEqualWeights(_ variables: [String: TensorData]) throws {
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

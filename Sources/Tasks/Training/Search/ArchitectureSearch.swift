public import RetintDistributed
public import RetintFiles
import RetintRuntime

extension ArchitectureSearchReport {
    /// Trains several configurations under one budget by successive halving, and measures the
    /// quality, the latency and the size of each.
    ///
    /// All candidates train for a few steps, the better half for twice as many, and so on; the last
    /// round trains to the end (Jamieson and Talwalkar, "Non-stochastic Best Arm Identification and
    /// Hyperparameter Optimization", 2016).
    ///
    /// - Parameters:
    ///   - candidates: two or more, no two alike; the finalists train for the steps of the first
    ///     one.
    ///   - output: the folder in which each candidate's run gets a folder named after it.
    ///   - rounds: the largest number of rounds.
    ///   - imageSize: the side in pixels of the square image that latency is measured on.
    ///   - ranks: the processes that split the candidates of each round, all with the same
    ///     arguments and access to the same folders. The first one measures latencies, while the
    ///     others wait.
    ///   - progress: called with a candidate's name and the step it is trained up to, on another
    ///     thread.
    /// - Returns: the candidates, the best first. If the task is cancelled, those validated so far.
    /// - Throws: ``TrainingError`` if a candidate cannot be trained, two of them are alike, the
    ///   folder has runs of an earlier search, or the training of all diverges; `ModelError` if a
    ///   network does not run at the image size; errors of files and photos; `RankError` if ranks
    ///   cannot reach each other.
    public init(
        searching candidates: [SearchCandidate], output: some PathConvertible, rounds: Int = 3,
        imageSize: Int = 256, ranks: Communicator = .single,
        progress: @escaping @Sendable (_ candidate: String, _ step: Int) -> Void = { _, _ in }
    ) async throws {
        let folder = output.filePath.string
        try candidates.requireDifferent()
        try createFolder(folder)
        let lock = ranks.rank == 0 ? try FolderLock(folder, reserving: ["report.html"]) : nil
        defer { withExtendedLifetime(lock) {} }
        self = try await onNewThread { isCancelled in
            let placed = candidates.map { candidate in
                var candidate = candidate
                candidate.configuration.output = "\(folder)/\(candidate.folderName)"
                return candidate
            }
            if ranks.rank == 0 { try placed.requireNoRuns() }
            try placed.requireNetworks(takeSide: imageSize)
            let halving = SuccessiveHalving(
                candidates: placed.count, steps: placed.first?.configuration.steps ?? 0,
                rounds: rounds)
            let outcome = try halving.run(
                placed, ranks: ranks, progress: { progress($0.name, $1) }, shouldStop: isCancelled)
            let measured =
                ranks.rank == 0
                ? try outcome.ranked.map {
                    try ArchitectureSearchReport.Candidate($0, imageSize: imageSize)
                } : nil
            return ArchitectureSearchReport(
                size: imageSize, rungs: halving.roundSteps,
                candidates: try ranks.broadcast(measured), diverged: outcome.diverged)
        }
    }
}

/// A configuration that a search compares with others.
public struct SearchCandidate: Hashable, Sendable {
    /// The name in the report, such as `mobile-unet width=0.5`; unique within a search.
    public let name: String
    /// The configuration to train; ``ArchitectureSearchReport`` sets the
    /// output folder.
    public var configuration: TrainingConfiguration

    /// A candidate with a name.
    public init(name: String, configuration: TrainingConfiguration) {
        (self.name, self.configuration) = (name, configuration)
    }

    /// A candidate named after the `key=value` settings that distinguish it; for an architecture,
    /// only the value.
    public init(settings: [String], configuration: TrainingConfiguration) {
        let words = settings.map { setting in
            let pair = setting.split(separator: "=", maxSplits: 1)
            return pair.count == 2 && pair[0] == "architecture" ? String(pair[1]) : setting
        }
        self.init(name: words.joined(separator: " "), configuration: configuration)
    }

    /// The name as a file name.
    var folderName: String {
        String(name.map { $0.isLetter || $0.isNumber || ".=-".contains($0) ? $0 : "_" })
    }
}

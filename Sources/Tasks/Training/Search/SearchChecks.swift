import RetintFiles
import RetintRuntime

/// What would end a search only after candidates have trained.
extension [SearchCandidate] {
    /// Refuses candidates that would train alike, or in the same folder.
    func requireDifferent() throws(TrainingError) {
        for (index, candidate) in enumerated() {
            for other in self[..<index] {
                guard let conflict = candidate.conflict(with: other) else { continue }
                throw TrainingError(
                    .setting,
                    "the candidates \(other.name) and \(candidate.name) \(conflict); "
                        + "change or leave out one of them")
            }
        }
    }

    /// Refuses output folders with runs of an earlier search, which cannot be resumed.
    func requireNoRuns() throws(TrainingError) {
        for candidate in self {
            let folder = RunFolder(candidate.configuration.output)
            guard folder.holdsRun else { continue }
            throw TrainingError(
                .runExists, file: folder.path,
                "has a run of an earlier search, and a search cannot be resumed; choose another "
                    + "output folder, or remove this one",
                remedies: [Remedy(.output)])
        }
    }

    /// Refuses a side that one of the networks does not take.
    ///
    /// - Throws: `ModelError` with the name of the candidate; the errors of starting a training.
    func requireNetworks(takeSide side: Int) throws {
        for candidate in self {
            let configuration = candidate.configuration
            let (checkpoint, _) = try TrainingStart.trial.begin(
                configuration, in: RunFolder(configuration.output)
            ) { _ in }
            let model = Model(checkpoint, name: candidate.name)
            let (height, width) = try model.size(ofSide: side)
            let input = try model.lightnessInput().name
            _ = try model.colorizerGraph(shapes: [input: [1, 1, height, width]])
        }
    }
}

extension SearchCandidate {
    /// Why two candidates cannot be in one search, after their names; nil if they can.
    fileprivate func conflict(with other: SearchCandidate) -> String? {
        if configuration == other.configuration { return "have the same settings" }
        return folderName == other.folderName ? "would share the folder \(folderName)" : nil
    }
}

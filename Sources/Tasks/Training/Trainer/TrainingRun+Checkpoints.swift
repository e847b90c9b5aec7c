import Foundation
import RetintArchitectures
import RetintCheckpoints
import RetintFiles
import RetintGraph
import RetintLayers
import RetintTensorFiles
import RetintTensors

extension TrainingRun {
    /// The checkpoint to start from, and how far its training got.
    ///
    /// - Throws: ``TrainingError`` if the output folder already contains a run that is not to be
    ///   resumed, or no run that can be resumed; the errors of reading checkpoints.
    static func begin(
        _ configuration: TrainingConfiguration, _ start: Start,
        _ report: (TrainingEvent) -> Void
    ) throws -> (Checkpoint, TrainingProgress) {
        let last = last(in: configuration.output)
        switch start {
        case .fresh:
            try requireNoRun(in: configuration.output)
            return (try fresh(configuration), TrainingProgress(configuration: configuration))
        case .trial:
            return (try fresh(configuration), TrainingProgress(configuration: configuration))
        case .resumed:
            guard access(last, F_OK) == 0 else {
                throw TrainingError(
                    .cannotResume, "\(last): there is no run to resume; start a new one")
            }
            return try resumed(configuration, from: last, report)
        }
    }

    /// Whether a folder contains a run.
    static func canResume(in folder: String) -> Bool { access(last(in: folder), F_OK) == 0 }

    private static func last(in folder: String) -> String { "\(folder)/last.h5" }

    /// - Throws: ``TrainingError`` if the folder contains a run.
    static func requireNoRun(in folder: String) throws(TrainingError) {
        let last = last(in: folder)
        guard access(last, F_OK) == 0 else { return }
        throw TrainingError(
            .runExists, "\(last): already holds a run; resume it, or choose another output folder",
            remedies: [Remedy("resumes"), Remedy("output")])
    }

    private static func fresh(_ configuration: TrainingConfiguration) throws -> Checkpoint {
        guard let start = configuration.start else {
            return try Checkpoint(configuration.namedNetwork, seed: UInt64(configuration.seed))
        }
        var checkpoint = try Checkpoint(contentsOf: start)
        try requireSameNetwork(checkpoint, configuration, path: start)
        (checkpoint.optimizer, checkpoint.training) = (StateDict(), nil)
        return checkpoint
    }

    private static func resumed(
        _ configuration: TrainingConfiguration, from path: String,
        _ report: (TrainingEvent) -> Void
    ) throws -> (Checkpoint, TrainingProgress) {
        let checkpoint = try Checkpoint(contentsOf: path)
        try requireSameNetwork(checkpoint, configuration, path: path)
        guard let json = checkpoint.training, var progress = TrainingProgress(json: json) else {
            throw TrainingError(
                .cannotResume,
                "\(path): has no valid record of how far its training got; start a new run with "
                    + "it as init")
        }
        let old = try? TrainingConfiguration(yaml: progress.configuration, name: path)
        let changes = old.map { configuration.differences(from: $0) } ?? []
        if !changes.isEmpty {
            report(.note("resumes with other settings: \(changes.joined(separator: "; "))"))
        }
        progress.configuration = configuration.yaml
        return (checkpoint, progress)
    }

    private static func requireSameNetwork(
        _ checkpoint: Checkpoint, _ configuration: TrainingConfiguration, path: String
    ) throws {
        let network = checkpoint.network
        let held = NetworkDescription.named(network.architecture, network.options)
        let wanted = configuration.namedNetwork
        guard held != wanted else { return }
        let settings = held.settings(insteadOf: wanted)
        throw TrainingError(
            .cannotResume,
            "\(path): holds \(held), the configuration asks for \(wanted); "
                + (settings.map { "set \($0) to make them agree" }
                    ?? "a folded network cannot be trained: use the checkpoint it was folded from"),
            remedies: settings.map { [Remedy("settings", $0)] } ?? [])
    }

    /// Loads weights and the optimizer's state into the step.
    func load() throws {
        var variables = step.initialOptimizerState
        if progress.step > 0 {
            let missing = variables.keys.filter { checkpoint.optimizer[$0] == nil }.sorted()
            guard missing.isEmpty else {
                throw TrainingError(
                    .cannotResume,
                    "\(folder)/last.h5: has no \(missing[0]); resume with the optimizer settings "
                        + "it was trained with")
            }
            variables.merge(checkpoint.optimizerVariables) { $1 }
            variables.merge(loadedResiduals) { $1 }
        }
        try step.load(checkpoint.variables)
        try step.load(variables)
    }

    /// Averaged weights if there are any, otherwise the weights themselves.
    func validatedWeights() throws -> [String: TensorData] {
        let variables = try withFirstStatistics(step.variables)
        let averaged = averagedParameters(in: variables)
        return averaged.isEmpty ? variables : variables.merging(averaged) { $1 }
    }

    /// Writes `last.h5`.
    ///
    /// - Parameter keeps: whether it is one of the checkpoints to keep. The checkpoint of an
    ///   interruption is not: it would displace one that an uninterrupted run would have.
    func save(keeps: Bool = true) throws {
        let variables = step.variables
        try requireEqualWeights(variables)
        let residuals = try savedResiduals(variables)
        guard ranks.rank == 0 else { return }
        var saved = try network(of: variables)
        for name in step.initialOptimizerState.keys.sorted() {
            if let value = variables[name] { saved.optimizer[name] = StoredTensor(value) }
        }
        for (name, value) in residuals.sorted(by: { $0.key < $1.key }) {
            saved.optimizer[name] = value
        }
        (progress.meter, progress.consecutiveSkips) = (meter, consecutiveSkips)
        saved.training = try progress.json()
        try write(saved, "last.h5")
        if keeps { try keepLast() }
    }

    /// Also keeps `last.h5` as `step-<n>.h5`, and removes the oldest ones beyond the number to
    /// keep.
    private func keepLast() throws {
        guard configuration.keepLast > 0 else { return }
        let kept = keptPath(progress.step)
        // A hard link is enough: last.h5 is never modified, only replaced.
        if link("\(folder)/last.h5", kept) != 0, errno != EEXIST {
            throw FileError(path: kept, operation: "create")
        }
        // Files with other names are not counted, and not removed.
        let steps = (entries(of: folder) ?? []).compactMap(Self.step(ofKept:)).sorted()
        for step in steps.dropLast(configuration.keepLast) { unlink(keptPath(step)) }
    }

    private static let keptName = (prefix: "step-", suffix: ".h5", digits: 7)

    private func keptPath(_ step: Int) -> String {
        let name = Self.keptName, digits = String(step)
        let padding = String(repeating: "0", count: max(name.digits - digits.count, 0))
        return "\(folder)/\(name.prefix)\(padding)\(digits)\(name.suffix)"
    }

    /// The step in the name of such a file; nil for any other name.
    private static func step(ofKept name: String) -> Int? {
        guard name.hasPrefix(keptName.prefix), name.hasSuffix(keptName.suffix) else { return nil }
        let digits = name.dropFirst(keptName.prefix.count).dropLast(keptName.suffix.count)
        guard digits.count >= keptName.digits, digits.allSatisfy(\.isASCII),
            digits.allSatisfy(\.isNumber)
        else { return nil }
        return Int(digits)
    }

    /// Writes `best.h5`, without the optimizer's state.
    func saveBest(_ weights: [String: TensorData]) throws {
        guard ranks.rank == 0 else { return }
        try write(try network(of: weights), "best.h5")
    }

    /// The weights as a checkpoint, with PyTorch's `num_batches_tracked` counted on.
    private func network(of variables: [String: TensorData]) throws -> Checkpoint {
        var result = checkpoint
        (result.optimizer, result.training) = (StateDict(), nil)
        let batches = Int64(progress.step - overview.firstStep)
        for (name, tensor) in checkpoint.state {
            if let value = variables[name] {
                result.state[name] = StoredTensor(value)
            } else if let count = tensor.integers?.first {
                let (sum, overflows) = count.addingReportingOverflow(batches)
                result.state[name] = StoredTensor(integer: overflows ? count : sum)
            }
        }
        return result
    }

    private func write(_ checkpoint: Checkpoint, _ name: String) throws {
        for tensors in [checkpoint.state, checkpoint.optimizer] {
            for (tensor, stored) in tensors where !(stored.floats ?? []).allSatisfy(\.isFinite) {
                throw TrainingError(
                    .notFinite,
                    "step \(progress.step): \(tensor) holds values that are not finite; "
                        + "\(folder)/\(name) is unchanged. Lower optimizer.learning_rate")
            }
        }
        try checkpoint.write(to: "\(folder)/\(name)")
    }
}

extension NetworkDescription {
    /// The architecture and the options other than defaults, by the configuration's keys.
    private var settings: [String: String] {
        options.texts.merging(["architecture": architecture]) { $1 }
    }

    /// The settings that turn another network's configuration into this one's; nil if there are
    /// none.
    fileprivate func settings(insteadOf other: NetworkDescription) -> String? {
        let (values, others) = (settings, other.settings)
        let keys = Set(values.keys).union(others.keys).filter { values[$0] != others[$0] }
        let changes = keys.sorted().compactMap { key in
            // Whether a network is folded is not a setting.
            ConfigurationField.all.first { $0.key == key }.map { field in
                "\(key)=\(values[key] ?? field.text(TrainingConfiguration()))"
            }
        }
        return changes.count == keys.count ? changes.joined(separator: " ") : nil
    }
}

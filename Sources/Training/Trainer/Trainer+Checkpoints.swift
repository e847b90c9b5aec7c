import Checkpoints
import Colorizers
import Files
import Foundation
import Layers
import TensorFiles
import TensorGraph

extension Trainer {
    /// What to start from: fresh weights, those of a checkpoint, or the run in the folder.
    static func start(
        _ configuration: TrainingConfiguration, resumes: Bool, _ report: (TrainingEvent) -> Void
    ) throws -> (Checkpoint, TrainerState) {
        let last = "\(configuration.output)/last.h5"
        let exists = access(last, F_OK) == 0
        guard resumes else {
            guard !exists else {
                throw TrainingError(
                    .runExists,
                    "\(last): a run is there already; go on with --resume, or choose "
                        + "another --output")
            }
            return (try fresh(configuration), TrainerState(configuration: configuration))
        }
        guard exists else {
            throw TrainingError(
                .cannotResume, "\(last): there is no run to resume; start one without --resume")
        }
        return try resumed(configuration, from: last, report)
    }

    private static func fresh(_ configuration: TrainingConfiguration) throws -> Checkpoint {
        let options = configuration.network.texts
        guard let start = configuration.start else {
            return try Checkpoint(
                architecture: configuration.architecture, options: options,
                seed: UInt64(configuration.seed))
        }
        var checkpoint = try Checkpoint(contentsOf: start)
        try requireSameNetwork(checkpoint, configuration, path: start)
        (checkpoint.optimizer, checkpoint.training) = (StateDict(), nil)
        return checkpoint
    }

    private static func resumed(
        _ configuration: TrainingConfiguration, from path: String,
        _ report: (TrainingEvent) -> Void
    ) throws -> (Checkpoint, TrainerState) {
        let checkpoint = try Checkpoint(contentsOf: path)
        try requireSameNetwork(checkpoint, configuration, path: path)
        guard let json = checkpoint.training, var state = TrainerState(json: json),
            state.step >= 0
        else {
            throw TrainingError(
                .cannotResume, "\(path): does not say how far its training was; use it as init")
        }
        let old = try? TrainingConfiguration(yaml: state.configuration, name: path)
        let changes = old.map { configuration.differences(from: $0) } ?? []
        if !changes.isEmpty {
            report(.note("resumes with other settings: \(changes.joined(separator: "; "))"))
        }
        state.configuration = configuration.yaml
        return (checkpoint, state)
    }

    private static func requireSameNetwork(
        _ checkpoint: Checkpoint, _ configuration: TrainingConfiguration, path: String
    ) throws {
        let held = NetworkChoice(checkpoint.architecture, checkpoint.options)
        let wanted = NetworkChoice(configuration.architecture, configuration.network.texts)
        guard held != wanted else { return }
        let settings = held.settings(insteadOf: wanted)
        throw TrainingError(
            .cannotResume,
            "\(path): holds \(held), the configuration asks for \(wanted); "
                + (settings.map { "--set \($0) makes them agree" }
                    ?? "folded convolutions do not learn: take what they were folded from"))
    }

    /// Loads weights and the optimizer's state into the step.
    func load() throws {
        var variables = step.initialOptimizerState
        if trainer.step > 0 {
            let missing = variables.keys.filter { checkpoint.optimizer[$0] == nil }.sorted()
            guard missing.isEmpty else {
                throw TrainingError(
                    .cannotResume,
                    "\(folder)/last.h5: has no \(missing[0]); resume with the "
                        + "optimizer settings that it was trained with")
            }
            variables.merge(checkpoint.optimizerVariables) { $1 }
        }
        try step.load(checkpoint.variables)
        try step.load(variables)
    }

    /// Averaged weights if there are any, else the weights themselves.
    func validatedWeights() -> [String: TensorData] {
        let variables = step.variables
        let averaged = averagedParameters(in: variables)
        return averaged.isEmpty ? variables : variables.merging(averaged) { $1 }
    }

    /// Writes `last.h5`.
    func save() throws {
        let variables = step.variables
        var saved = try network(of: variables)
        for name in step.initialOptimizerState.keys.sorted() {
            if let value = variables[name] { saved.optimizer[name] = StoredTensor(value) }
        }
        saved.training = try trainer.json()
        try write(saved, "last.h5")
        try keepLast()
    }

    /// Keeps `last.h5` as `step-<n>.h5` as well, and removes the oldest beyond those to keep.
    private func keepLast() throws {
        guard configuration.keepLast > 0 else { return }
        let kept = "\(folder)/step-\(String(format: "%07d", trainer.step)).h5"
        // A second name of the same bytes: last.h5 is never changed, but replaced.
        if link("\(folder)/last.h5", kept) != 0, errno != EEXIST {
            throw FileError(path: kept, operation: "create")
        }
        let all = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasPrefix("step-") && $0.hasSuffix(".h5") }.sorted()
        for name in all.dropLast(configuration.keepLast) { unlink("\(folder)/\(name)") }
    }

    /// Writes `best.h5`, which holds nothing of the optimizer.
    func saveBest(_ weights: [String: TensorData]) throws {
        try write(try network(of: weights), "best.h5")
    }

    /// The weights as a checkpoint, with PyTorch's counters of batches.
    private func network(of variables: [String: TensorData]) throws -> Checkpoint {
        var result = Checkpoint(
            architecture: checkpoint.architecture, options: checkpoint.options,
            state: checkpoint.state)
        let batches = Int64(trainer.step - state.stepsBefore)
        for (name, tensor) in checkpoint.state {
            if let value = variables[name] {
                result.state[name] = StoredTensor(value)
            } else if let count = tensor.integers?.first {
                result.state[name] = StoredTensor(integer: count + batches)
            }
        }
        return result
    }

    private func write(_ checkpoint: Checkpoint, _ name: String) throws {
        for tensors in [checkpoint.state, checkpoint.optimizer] {
            for (tensor, stored) in tensors where !(stored.floats ?? []).allSatisfy(\.isFinite) {
                throw TrainingError(
                    .notFinite,
                    "step \(trainer.step): \(tensor) holds numbers that are not finite; "
                        + "\(folder)/\(name) stays as it was. Lower optimizer.learning_rate")
            }
        }
        try checkpoint.write(to: "\(folder)/\(name)")
    }
}

/// An architecture and what is chosen about it, to say how two differ.
private struct NetworkChoice: Equatable, CustomStringConvertible {
    /// By the configuration's keys, `architecture` among them.
    private var values: [String: String]

    init(_ architecture: String, _ options: [String: String]) {
        values = options
        values["architecture"] = architecture
    }

    var description: String {
        let options = values.filter { $0.key != "architecture" }.sorted { $0.key < $1.key }
            .map { "\($0.key) \($0.value)" }
        return ([values["architecture"] ?? ""] + options).joined(separator: ", ")
    }

    /// What makes a configuration of another choice one of this; nil if no setting does.
    func settings(insteadOf other: NetworkChoice) -> String? {
        let keys = Set(values.keys).union(other.values.keys)
            .filter { values[$0] != other.values[$0] }
        let settings = keys.sorted().compactMap { key in
            // That a network is folded is no setting.
            ConfigurationField.all.first { $0.key == key }.map { field in
                "\(key)=\(values[key] ?? field.text(TrainingConfiguration()))"
            }
        }
        return settings.count == keys.count ? settings.joined(separator: " ") : nil
    }
}

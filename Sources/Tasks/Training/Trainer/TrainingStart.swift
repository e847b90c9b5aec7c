import Foundation
import RetintArchitectures
import RetintCheckpoints
import RetintFiles
import RetintGraph
import RetintTensorFiles
import RetintTensors

/// The starting point of a run.
enum TrainingStart {
    /// New weights, or those of the configuration's `init` checkpoint.
    case fresh
    /// `last.h5` in the output folder.
    case resumed
    /// As ``fresh``, for a few steps whose results are discarded: nothing is written, so an
    /// existing run in the output folder does not matter.
    case trial

    /// The checkpoint to start from, and how far its training got.
    ///
    /// - Throws: ``TrainingError`` if the output folder already contains a run that is not to be
    ///   resumed, or no run that can be resumed; the errors of reading checkpoints.
    func begin(
        _ configuration: TrainingConfiguration, in folder: RunFolder,
        _ report: (TrainingEvent) -> Void
    ) throws -> (Checkpoint, TrainingProgress) {
        switch self {
        case .fresh:
            try folder.requireNoRun()
            fallthrough
        case .trial:
            let checkpoint = try Self.fresh(configuration)
            return (checkpoint, TrainingProgress(configuration: configuration))
        case .resumed:
            guard folder.holdsRun else {
                throw TrainingError(
                    .cannotResume, file: folder.last, "there is no run to resume; start a new one")
            }
            return try Self.resumed(configuration, from: folder.last, report)
        }
    }

    private static func fresh(_ configuration: TrainingConfiguration) throws -> Checkpoint {
        guard let start = configuration.start.map(ShippedCheckpoint.path) else {
            do {
                return try Checkpoint(configuration.namedNetwork, seed: UInt64(configuration.seed))
            } catch let error as ColorizerError {
                throw TrainingError(.configuration, place: error.kind.key, "\(error)")
            }
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
                file: path,
                "has no valid record of its training progress; start a new run with "
                    + "it as init")
        }
        let old = progress.settings
        if let old, old.start != configuration.start {
            throw TrainingError(
                .cannotResume, file: path,
                "began from \(old.start ?? "random weights"), which init cannot change any more; "
                    + "leave init as it was, or start a new run")
        }
        if let old, old.quantization.roundsInputs != configuration.quantization.roundsInputs {
            throw TrainingError(
                .cannotResume, file: path,
                "was trained with quantization \(old.quantization.rawValue), and "
                    + "\(configuration.quantization.rawValue) has other variables; start a new run "
                    + "with init=\(path) quantization=\(configuration.quantization.rawValue)")
        }
        if let old { try requireSameOpponent(old.loss.adversarial, configuration, path: path) }
        if progress.step >= configuration.steps {
            report(
                .note(
                    "the run has taken \(progress.step) steps already, and steps is "
                        + "\(configuration.steps): nothing is left to do"))
        }
        let changes = old.map { configuration.differences(from: $0) } ?? []
        if !changes.isEmpty {
            report(.note("resuming with other settings: \(changes.joined(separator: "; "))"))
        }
        progress.configuration = configuration.yaml
        return (checkpoint, progress)
    }

    private static func requireSameOpponent(
        _ old: TrainingConfiguration.AdversarialLoss, _ configuration: TrainingConfiguration,
        path: String
    ) throws {
        let new = configuration.loss.adversarial
        guard (old.weight > 0) != (new.weight > 0) || new.weight > 0 && old.width != new.width
        else { return }
        throw TrainingError(
            .cannotResume, file: path,
            "was trained with loss.adversarial=\(old.weight) loss.adversarial_width=\(old.width), "
                + "and goes on only with a discriminator of that width, or without one as before; "
                + "for another loss, start a new run with init=\(path)")
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
            file: path,
            "contains \(held), but the configuration asks for \(wanted); "
                + (settings.map { "set \($0) to make them agree" }
                    ?? "a folded network cannot be trained: use the checkpoint it was folded from"),
            remedies: settings.map { [Remedy(.settings, $0)] } ?? [])
    }
}

extension ColorizerProblem {
    /// The configuration's key that it is about.
    fileprivate var key: String {
        switch self {
        case .unsupportedOption(let option, _), .outOfRange(let option, _, _): option
        default: "architecture"
        }
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
            TrainingConfiguration.Field.all.first { $0.key == key }.map { field in
                "\(key)=\(values[key] ?? field.text(TrainingConfiguration()))"
            }
        }
        return changes.count == keys.count ? changes.joined(separator: " ") : nil
    }
}

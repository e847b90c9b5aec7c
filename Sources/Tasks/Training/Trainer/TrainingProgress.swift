import Foundation
import RetintDistributed

/// The state of a run other than weights and optimizer, stored in a checkpoint as JSON.
struct TrainingProgress: Hashable, Sendable, Codable {
    /// Steps done. Together with the seed, it determines all following batches.
    var step = 0
    /// The lowest loss of any validation.
    var bestLoss: Double?
    /// Validations since that one; nil in runs from before this was counted.
    var sinceBest: Int?
    var validationsSinceBest: Int { sinceBest ?? 0 }
    /// Seconds of training so far, for a time limit; nil in runs from before this was counted.
    var seconds: Double?
    /// Whether a validation was due after the last step, but was not completed.
    var isValidationDue: Bool?
    /// The sums over the steps since the last record.
    var meter: StepMeter?
    /// Steps in a row whose loss or gradient was not finite.
    var consecutiveSkips: Int?
    /// The scale of the loss in float16; nil in other arithmetic.
    var lossScale: LossScale?
    /// The photos; see `PhotoFolder.fingerprint`.
    var photos: String?
    /// The configuration as YAML.
    var configuration: String

    /// Larger numbers mean that the file is damaged.
    private static let counts = 0...1 << 40

    enum CodingKeys: String, CodingKey {
        case step, configuration, meter, photos, seconds
        case isValidationDue = "validation_due"
        case consecutiveSkips = "consecutive_skips"
        case bestLoss = "best_loss"
        case sinceBest = "validations_since_best"
        case lossScale = "loss_scale"
    }

    init(configuration: TrainingConfiguration) {
        self.configuration = configuration.yaml
    }

    /// - Returns: nil for text that is not such a state, or has absurd numbers.
    init?(json: String) {
        guard let progress = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)),
            [progress.step, progress.validationsSinceBest, progress.consecutiveSkips ?? 0]
                .allSatisfy(Self.counts.contains), progress.meter?.isValid ?? true,
            (0...1e12).contains(progress.seconds ?? 0), progress.lossScale?.isValid ?? true
        else { return nil }
        self = progress
    }

    /// The configuration; nil if this version does not take it.
    var settings: TrainingConfiguration? { try? TrainingConfiguration(yaml: configuration) }

    /// Records the photos that the run continues with.
    ///
    /// - Parameter photos: see `PhotoFolder.fingerprint`.
    /// - Returns: a message if they have changed; otherwise nil.
    mutating func change(to photos: String) -> String? {
        defer { self.photos = photos }
        guard let before = self.photos, before != photos else { return nil }
        return
            "the photos have changed since the run was saved, so its results will differ from "
            + "those of an uninterrupted run"
    }

    /// Records a validation that ended.
    ///
    /// - Returns: whether its loss is the lowest so far.
    mutating func validated(_ loss: Double) -> Bool {
        isValidationDue = nil
        guard loss < bestLoss ?? .infinity else {
            sinceBest = validationsSinceBest + 1
            return false
        }
        (bestLoss, sinceBest) = (loss, 0)
        return true
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

/// Sums over the steps since the last record. A resumed run continues them.
struct StepMeter: Hashable, Sendable, Codable {
    private var (steps, skipped) = (0, 0)
    private var (loss, norm) = (0.0, 0.0)
    /// The steps that changed weights, whose norms are summed; nil in runs from before this was
    /// counted.
    private var updates: Int?
    /// Seconds.
    private var (waiting, total) = (0.0, 0.0)
    /// The part spent waiting for other ranks; nil in runs from before this was counted.
    private var communicating: Double?

    /// Whether the counts are valid.
    var isValid: Bool {
        [steps, skipped, updates ?? 0].allSatisfy((0...1 << 40).contains)
    }

    /// - Parameter applies: whether the step changed weights: otherwise its norm is of a part of
    ///   the accumulated gradients.
    mutating func add(
        _ result: TrainingStep.Result, applies: Bool, waiting: Duration, communicating: Duration,
        total: Duration
    ) {
        if result.isFinite {
            updates = (updates ?? steps) + (applies ? 1 : 0)
            steps += 1
            loss += Double(result.loss)
            if applies { norm += Double(result.gradientNorm) }
        } else {
            skipped += 1
        }
        self.waiting += waiting / .seconds(1)
        self.communicating = (self.communicating ?? 0) + communicating / .seconds(1)
        self.total += total / .seconds(1)
    }

    /// - Parameters:
    ///   - batch: the number of images per step.
    ///   - ranks: the ranks that all do this at the same time.
    func fill(_ record: inout MetricsRecord, batch: Int, _ ranks: Communicator) throws {
        if steps > 0 { record.loss = loss / Double(steps) }
        let updates = updates ?? steps
        if updates > 0 { record.gradientNorm = norm / Double(updates) }
        if skipped > 0 { record.skippedSteps = skipped }
        // The resumed run may have had another number of ranks.
        let all = try ranks.gather(numbers: [waiting, communicating ?? 0, total])
        guard all.allSatisfy({ $0[2] > 0 }) else { return }
        record.imagesPerSecond = Double(steps + skipped) * Double(batch) / total
        record.waitingShare = all.reduce(0) { $0 + $1[0] / $1[2] } / Double(all.count)
        if ranks.size > 1 { record.communicationShares = all.map { $0[1] / $0[2] } }
    }
}

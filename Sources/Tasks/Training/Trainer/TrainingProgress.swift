import Foundation

/// The state of a run other than weights and optimizer, stored in a checkpoint as JSON.
struct TrainingProgress: Hashable, Sendable, Codable {
    /// Steps done. Together with the seed, it determines all following batches.
    var step = 0
    /// The lowest loss of any validation.
    var bestLoss: Double?
    /// Validations since that one; nil in runs from before this was counted.
    var sinceBest: Int?
    var validationsSinceBest: Int { sinceBest ?? 0 }
    /// Whether a validation was due after the last step, but was not completed.
    var isValidationDue: Bool?
    /// The sums over the steps since the last record.
    var meter: StepMeter?
    /// Steps in a row whose loss or gradient was not finite.
    var consecutiveSkips: Int?
    /// The photos; see `PhotoFolder.fingerprint`.
    var photos: String?
    /// The configuration as YAML.
    var configuration: String

    /// Larger numbers mean that the file is damaged.
    private static let counts = 0...1 << 40

    enum CodingKeys: String, CodingKey {
        case step, configuration, meter, photos
        case isValidationDue = "validation_due"
        case consecutiveSkips = "consecutive_skips"
        case bestLoss = "best_loss"
        case sinceBest = "validations_since_best"
    }

    init(configuration: TrainingConfiguration) {
        self.configuration = configuration.yaml
    }

    /// - Returns: nil for text that is not such a state, or has absurd numbers.
    init?(json: String) {
        guard let progress = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)),
            [progress.step, progress.validationsSinceBest, progress.consecutiveSkips ?? 0]
                .allSatisfy(Self.counts.contains), progress.meter?.isValid ?? true
        else { return nil }
        self = progress
    }

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

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

import Foundation

/// The state of a training beside weights and optimizer, which a checkpoint keeps as JSON.
struct TrainingProgress: Hashable, Sendable, Codable {
    /// Steps done. With the seed, it determines all batches to come.
    var step = 0
    /// The lowest loss of any validation.
    var bestLoss: Double?
    /// Validations since that one; nil in runs from before this was counted.
    var sinceBest: Int?
    var validationsSinceBest: Int { sinceBest ?? 0 }
    /// The configuration as YAML.
    var configuration: String

    enum CodingKeys: String, CodingKey {
        case step, configuration
        case bestLoss = "best_loss"
        case sinceBest = "validations_since_best"
    }

    init(configuration: TrainingConfiguration) {
        self.configuration = configuration.yaml
    }

    init?(json: String) {
        guard let progress = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)) else {
            return nil
        }
        self = progress
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

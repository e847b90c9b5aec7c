import Foundation

/// What a checkpoint keeps of the trainer itself, as JSON.
struct TrainerState: Hashable, Sendable, Codable {
    /// Steps done; with the seed, it tells all that is to come of the data.
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
        guard let state = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)) else {
            return nil
        }
        self = state
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

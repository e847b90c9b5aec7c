import Foundation
import RetintDistributed
import RetintFiles
import RetintGraph
import RetintTensors

/// Everything that must be the same on all ranks before they train together.
struct RankComparison: Codable {
    /// The configuration as YAML, including the seed.
    let configuration: String
    /// Steps done.
    let step: Int
    /// See `PhotoFolder.fingerprint`.
    let photos: String
    /// A digest of weights and optimizer state.
    let weights: String
    /// The order in which a step sends messages: with another order, ranks would wait forever.
    let messages: [String]

    /// A configuration without which of the GPUs the rank computes on.
    static func withoutGPU(_ yaml: String) -> String {
        guard var configuration = try? TrainingConfiguration(yaml: yaml),
            case .cuda = configuration.device
        else { return yaml }
        configuration.device = .cuda()
        return configuration.yaml
    }

    /// - Throws: a ``TrainingError`` that names the first rank that differs from rank 0.
    func requireEqual(on ranks: Communicator) throws {
        let all = try ranks.gather(Array(JSONEncoder().encode(self))).map {
            try JSONDecoder().decode(Self.self, from: Data($0))
        }
        for (rank, other) in all.enumerated() {
            guard let difference = all[0].difference(of: other) else { continue }
            throw TrainingError(.ranksDiffer, "rank \(rank): \(difference)")
        }
    }

    private func difference(of other: RankComparison) -> String? {
        if configuration != other.configuration {
            return "has another configuration than rank 0\(settings(of: other)); give all ranks "
                + "the same file and options"
        }
        if step != other.step {
            return "starts at step \(other.step), rank 0 at \(step); let all ranks use the same "
                + "output folder"
        }
        if photos != other.photos {
            return "has other photos than rank 0; give all ranks the same folder or pack"
        }
        if weights != other.weights {
            return "starts with other weights than rank 0; let all ranks read the same checkpoint, "
                + "with the same retint"
        }
        return messages == other.messages
            ? nil
            : "sends its messages in another order than rank 0; choose a batch that the number of "
                + "ranks divides"
    }

    /// The settings that differ, after a colon; empty if a configuration cannot be read.
    private func settings(of other: RankComparison) -> String {
        guard let first = try? TrainingConfiguration(yaml: configuration),
            let second = try? TrainingConfiguration(yaml: other.configuration)
        else { return "" }
        return ": " + second.differences(from: first).joined(separator: "; ")
    }
}

extension [String: TensorData] {
    /// A digest of names and values.
    var digest: String {
        var hash = ContentHash()
        for (name, value) in sorted(by: { $0.key < $1.key }) {
            hash.update(Array(name.utf8))
            hash.update(value.scalars)
        }
        return hash.digest.hexadecimal
    }
}

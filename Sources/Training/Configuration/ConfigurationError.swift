/// A configuration that cannot be used: where, which key, and what to write instead.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file with the line ("train.yaml:12"), or the option ("--set").
    package let place: String
    package let problem: String

    init(_ place: String, _ problem: String) {
        self.place = place
        self.problem = problem
    }

    package var description: String { "\(place): \(problem)" }

    /// Whether the command line, not a file, is wrong.
    package var isUsage: Bool { place.hasPrefix("--") }

    static func unknownKey(_ key: String, at place: String) -> ConfigurationError {
        let known = ConfigurationField.all.map(\.key)
        let advice =
            suggestion(for: key, among: known).map { "did you mean \($0)?" }
            ?? "known are \(known.joined(separator: ", "))"
        return ConfigurationError(place, "there is no key \(key); \(advice)")
    }
}

/// The key that someone who wrote `key` most likely meant; nil if none comes near.
func suggestion(for key: String, among known: [String]) -> String? {
    let scored = known.map { candidate in
        // The right name in the wrong section is as likely as a slip of the finger.
        let bare = editDistance(lastPart(key), lastPart(candidate))
        let section =
            key.dropLast(lastPart(key).count)
                == candidate.dropLast(
                    lastPart(candidate).count) ? 0.0 : 0.5
        return (candidate, min(Double(editDistance(key, candidate)), Double(bare) + section))
    }
    guard let best = scored.min(by: { $0.1 < $1.1 }) else { return nil }
    return best.1 <= max(2.5, Double(lastPart(key).count) / 3) ? best.0 : nil
}

private func lastPart(_ key: String) -> String {
    key.split(separator: ".").last.map(String.init) ?? key
}

/// How many letters must be put in, taken out or changed (Levenshtein).
private func editDistance(_ first: String, _ second: String) -> Int {
    let (a, b) = (Array(first), Array(second))
    var row = Array(0...b.count)
    for i in a.indices {
        var diagonal = row[0]
        row[0] = i + 1
        for j in b.indices {
            let change = diagonal + (a[i] == b[j] ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = min(change, row[j] + 1, row[j + 1] + 1)
        }
    }
    return row[b.count]
}

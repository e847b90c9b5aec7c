/// The key most likely meant by `key`; nil if none is similar.
func suggestion(for key: String, among known: [String]) -> String? {
    let scored = known.map { candidate in
        // The right name in the wrong section is as likely as a typo.
        let (name, candidateName) = (lastPart(key), lastPart(candidate))
        let isSameSection = key.dropLast(name.count) == candidate.dropLast(candidateName.count)
        let nameDistance = Double(editDistance(name, candidateName)) + (isSameSection ? 0 : 0.5)
        return (candidate, min(Double(editDistance(key, candidate)), nameDistance))
    }
    guard let best = scored.min(by: { $0.1 < $1.1 }) else { return nil }
    return best.1 <= max(2.5, Double(lastPart(key).count) / 3) ? best.0 : nil
}

private func lastPart(_ key: String) -> String {
    key.split(separator: ".").last.map(String.init) ?? key
}

/// The smallest number of insertions, deletions and substitutions of characters (Levenshtein).
private func editDistance(_ first: String, _ second: String) -> Int {
    let (a, b) = (Array(first), Array(second))
    var row = Array(0...b.count)
    for i in a.indices {
        var diagonal = row[0]
        row[0] = i + 1
        for j in b.indices {
            let substitution = diagonal + (a[i] == b[j] ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = min(substitution, row[j] + 1, row[j + 1] + 1)
        }
    }
    return row[b.count]
}

/// Names for one that is misspelled.
public enum Spelling {
    /// The similar names, at most three, the nearest first.
    ///
    /// - Parameters:
    ///   - word: what was written.
    ///   - names: what it may be.
    public static func similar(to word: String, among names: [String]) -> [String] {
        // A beginning that only one name has is meant to be that one.
        let begun = names.filter { $0.hasPrefix(word) }
        if begun.count == 1, word.count > 2 { return begun }
        let scored = scored(word, names)
        guard let best = scored.first?.distance,
            best <= tolerance(lastPart(word).count)
        else { return [] }
        return scored.prefix(3).filter { $0.distance <= best + 0.5 }.map(\.name)
    }

    /// The largest distance of a similar name: of short words, most letters have to be right.
    private static func tolerance(_ count: Int) -> Double {
        count < 4 ? 1 : max(2.5, Double(count) / 3)
    }

    private static func scored(
        _ word: String, _ names: [String]
    ) -> [(name: String, distance: Double)] {
        names.map { (name: $0, distance: distance(word, $0)) }
            .sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }
    }

    private static func distance(_ word: String, _ name: String) -> Double {
        // The right name in the wrong section is as likely as a typo.
        let (last, nameLast) = (lastPart(word), lastPart(name))
        let isSameSection = word.dropLast(last.count) == name.dropLast(nameLast.count)
        let lastDistance = Double(editDistance(last, nameLast)) + (isSameSection ? 0 : 0.5)
        return min(Double(editDistance(word, name)), lastDistance)
    }

    private static func lastPart(_ key: String) -> String {
        key.split(separator: ".").last.map(String.init) ?? key
    }

    /// The smallest number of insertions, deletions and substitutions of characters (Levenshtein).
    private static func editDistance(_ first: String, _ second: String) -> Int {
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
}

/// Searches for a smallest subset for which a test passes, if it passes for all elements and fails
/// for none.
///
/// The test need not be monotone: more elements may fail again. Delta debugging (Zeller and
/// Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002) gives a set from which no
/// element can be removed. Then all smaller sets are tried, as far as the number of tests allows.
struct SubsetSearch {
    /// The result of a test: whether it passes, and a score, which is higher the closer it is.
    struct Outcome {
        let passes: Bool
        let score: Double
    }

    private let count: Int
    private let maximumTests: Int
    private let test: (Set<Int>) throws -> Outcome
    private var outcomes: [Set<Int>: Outcome] = [[]: Outcome(passes: false, score: -.infinity)]
    /// The elements, the most helpful ones first.
    private var ranking: [Int]
    private(set) var tests = 0

    /// The number of tests is used up.
    private struct Exhausted: Error {}

    /// - Parameters:
    ///   - count: the elements are 0..<count; the test is known to fail for none of them.
    ///   - test: called once at most for a subset.
    init(count: Int, maximumTests: Int, test: @escaping (Set<Int>) throws -> Outcome) {
        self.count = count
        self.maximumTests = maximumTests
        self.test = test
        ranking = Array(0..<count)
    }

    /// - Returns: nil if the test does not pass for all elements.
    mutating func run() throws -> (elements: Set<Int>, minimality: VerificationReport.Minimality)? {
        let all = Set(0..<count)
        guard count > 0, maximumTests > 0, try passes(all) else { return nil }
        var best = all
        do {
            if let single = try rank() { return ([single], .minimum) }
            best = try shortestPrefix()
            try minimize(&best)
            if try findSmaller(than: &best) { return (best, .minimum) }
            try exchange(&best)
            return (best, .irreducible)
        } catch is Exhausted {
            return (best, .unproven)
        }
    }

    private mutating func outcome(_ subset: Set<Int>) throws -> Outcome {
        if let known = outcomes[subset] { return known }
        guard tests < maximumTests else { throw Exhausted() }
        tests += 1
        let outcome = try test(subset)
        outcomes[subset] = outcome
        return outcome
    }

    private mutating func passes(_ subset: Set<Int>) throws -> Bool {
        try outcome(subset).passes
    }

    /// Tests and ranks the single elements; returns one that passes.
    private mutating func rank() throws -> Int? {
        var scores: [Double] = []
        for element in 0..<count {
            let outcome = try outcome([element])
            if outcome.passes { return element }
            scores.append(outcome.score)
        }
        ranking.sort { (scores[$0], $1) > (scores[$1], $0) }
        return nil
    }

    /// The first elements of the ranking, as few as bisection finds.
    private mutating func shortestPrefix() throws -> Set<Int> {
        var (low, high) = (1, count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if try passes(Set(ranking[..<middle])) { high = middle } else { low = middle }
        }
        return Set(ranking[..<high])
    }

    /// Removes elements until none can be removed.
    private mutating func minimize(_ set: inout Set<Int>) throws {
        var parts = 2
        while set.count > 1 {
            let chunks = chunks(of: set, parts)
            if let chunk = try first(of: chunks) {
                (set, parts) = (chunk, 2)
            } else if let rest = try first(of: chunks.map { [set] in set.subtracting($0) }) {
                (set, parts) = (rest, max(parts - 1, 2))
            } else if parts < set.count {
                parts = min(2 * parts, set.count)
            } else {
                return
            }
        }
    }

    /// Parts of a set, those with the least helpful elements first.
    private func chunks(of set: Set<Int>, _ parts: Int) -> [Set<Int>] {
        let elements = Array(ranking.filter(set.contains).reversed())
        return (0..<parts).map { part in
            Set(elements[part * elements.count / parts..<(part + 1) * elements.count / parts])
        }
    }

    private mutating func first(of subsets: [Set<Int>]) throws -> Set<Int>? {
        for subset in subsets where try passes(subset) { return subset }
        return nil
    }

    /// Tries all smaller sets, the smallest first.
    ///
    /// - Returns: whether there are no smaller ones left that could pass.
    private mutating func findSmaller(than best: inout Set<Int>) throws -> Bool {
        var size = 2
        while size < best.count {
            guard combinations(count, size) <= maximumTests - tests else { return false }
            var positions = Array(0..<size)
            repeat {
                let subset = Set(positions.map { ranking[$0] })
                if try passes(subset) {
                    best = subset
                    return true
                }
            } while advance(&positions)
            size += 1
        }
        return true
    }

    /// The next combination in lexicographic order; false after the last one.
    private func advance(_ positions: inout [Int]) -> Bool {
        let size = positions.count
        guard let index = positions.indices.last(where: { positions[$0] < count - size + $0 })
        else { return false }
        let start = positions[index] + 1
        for next in index..<size { positions[next] = start + next - index }
        return true
    }

    /// Replaces two elements by one, as long as the test passes.
    private mutating func exchange(_ set: inout Set<Int>) throws {
        var isImproved = true
        while isImproved, set.count > 2 {
            isImproved = false
            if let smaller = try exchanged(set) {
                set = smaller
                try minimize(&set)
                isImproved = true
            }
        }
    }
}

extension SubsetSearch {
    /// A set that passes with one element instead of two.
    private mutating func exchanged(_ set: Set<Int>) throws -> Set<Int>? {
        let own = ranking.filter(set.contains)
        for other in ranking where !set.contains(other) {
            for (first, second) in pairs(of: own) {
                let candidate = set.subtracting([first, second]).union([other])
                if try passes(candidate) { return candidate }
            }
        }
        return nil
    }
}

extension VerificationReport {
    /// What is known about the size of the set found by a search.
    public enum Minimality: String, Hashable, Sendable, Codable {
        /// No smaller set passes: all of them were tried.
        case minimum
        /// No element can be removed, and no single one can replace two.
        case irreducible
        /// The number of runs was used up before that was known.
        case unproven
    }
}

private func pairs(of elements: [Int]) -> [(Int, Int)] {
    elements.indices.flatMap { first in
        elements[(first + 1)...].map { (elements[first], $0) }
    }
}

/// The number of subsets of a size, or a large number.
private func combinations(_ count: Int, _ size: Int) -> Int {
    var result = 1
    for index in 0..<min(size, count - size) {
        let (product, overflow) = result.multipliedReportingOverflow(by: count - index)
        guard !overflow else { return .max }
        result = product / (index + 1)
    }
    return result
}

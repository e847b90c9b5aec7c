import RetintGraph
import RetintMLPackage
import RetintRuntime

/// Choices of schemes that are measured as a whole, instead of adding up the effects of weights.
struct MeasuredChoices {
    private let search: SchemeSearch
    /// The decompressed values of each choice of each weight, and those of its bias.
    private let values: [[[String: [Float]]]]
    /// A choice for each weight, by its index.
    private typealias Indices = [Int]
    private var start: Indices = []
    private let probes = IntegerProbes()

    /// The largest number of choices, or of runs, that are measured.
    static let limit = 4096
    /// The largest number of values that are kept: 256 MiB.
    private static let mostValues = 1 << 26

    /// All choices; nil if there are too many to measure them.
    init?(of search: SchemeSearch) throws {
        let count = search.choices.reduce(1) { min($0 * $1.count, Self.limit + 1) }
        guard count <= Self.limit, let values = try Self.values(of: search) else { return nil }
        (self.search, self.values) = (search, values)
    }

    /// A choice and those that differ from it in one weight; nil if there are too many to measure
    /// them.
    init?(improving choice: [SchemeSearch.Choice], of search: SchemeSearch) throws {
        start = zip(search.choices, choice).map { all, chosen in
            all.firstIndex { $0.form == chosen.form } ?? 0
        }
        let changes = Self.smaller(than: start, search.choices)
        guard changes.count * search.probe.count <= Self.limit,
            let values = try Self.values(of: search)
        else { return nil }
        (self.search, self.values) = (search, values)
    }

    private static func values(of search: SchemeSearch) throws -> [[[String: [Float]]]]? {
        let sizes = zip(search.weights, search.choices).map {
            ($0.value.type.elementCount ?? mostValues) * $1.count
        }
        guard sizes.reduce(0, +) <= mostValues else { return nil }
        let all = search.choices.joined().filter { $0.form.scheme != nil }
        var packages = try search.compressed(all).makeIterator()
        return try search.choices.map { weight in
            try weight.map { choice in
                guard choice.form.scheme != nil, let package = packages.next() else { return [:] }
                return try search.probe.variables(of: package, compressing: choice.weight)
            }
        }
    }

    // MARK: All

    /// The package of the least expense within the bound, and among those of its expense the one
    /// with the least error; nil if there is none.
    func optimal() throws -> SchemeSearch.Found? {
        let all = combinations.filter { $0.contains { $0 != 0 } }
        let byExpense = Dictionary(grouping: all, by: expense).sorted { $0.key < $1.key }
        for (_, indices) in byExpense {
            let measured = try indices.map { (indices: $0, error: try error($0)) }
            let passing = measured.filter { $0.error <= search.bound.error }
            for (indices, _) in passing.sorted(by: { $0.error < $1.error }) {
                if let found = try package(of: indices, .optimal) { return found }
            }
        }
        return nil
    }

    private var combinations: [Indices] {
        search.choices.reduce([[]]) { begun, weight in
            begun.flatMap { indices in weight.indices.map { indices + [$0] } }
        }
    }

    // MARK: Single changes

    /// A package of which no weight can get a smaller scheme within the bound, unless that takes
    /// too many runs; nil if the package differs from what was measured.
    func minimal() throws -> SchemeSearch.Found? {
        var (current, runs) = (start, 0)
        var changed = true
        while changed {
            changed = false
            // After a change, the others are still worth a try; only a sweep without one proves
            // that there is none.
            for (weight, choice) in Self.smaller(than: current, search.choices) {
                let choices = search.choices[weight]
                guard choices[choice].expense < choices[current[weight]].expense else { continue }
                runs += search.probe.count
                guard runs <= Self.limit else { return try package(of: current, .estimated) }
                var other = current
                other[weight] = choice
                guard try error(other) <= search.bound.error else { continue }
                (current, changed) = (other, true)
            }
        }
        return try package(of: current, .minimal)
    }

    /// The changes of one weight that make the package smaller or faster, those first that add
    /// little error for what they save.
    private static func smaller(
        than current: Indices, _ choices: [[SchemeSearch.Choice]]
    ) -> [(weight: Int, choice: Int)] {
        var changes: [(weight: Int, choice: Int, price: Double)] = []
        for (weight, index) in current.enumerated() {
            let own = choices[weight][index]
            for (choice, other) in choices[weight].enumerated() where other.expense < own.expense {
                let added = other.addedError - own.addedError
                changes.append((weight, choice, added / (own.expense - other.expense)))
            }
        }
        return changes.sorted { $0.price < $1.price }.map { ($0.weight, $0.choice) }
    }

    // MARK: Measuring

    private func expense(_ indices: Indices) -> Double {
        zip(search.choices, indices).reduce(0) { $0 + $1.0[$1.1].expense }
    }

    private func error(_ indices: Indices) throws -> Double {
        let changed = indices.enumerated().reduce(into: [String: [Float]]()) { changed, choice in
            changed.merge(values[choice.offset][choice.element]) { $1 }
        }
        let probe = try probes.probe(of: zip(search.choices, indices).map { $0[$1] }, search)
        return search.bound.error(try probe.change(to: changed, onFirst: probe.count))
    }

    /// The package of a choice; nil if it is not within the bound after all.
    private func package(
        of indices: Indices, _ proof: QuantizationSearchReport.Proof
    ) throws -> SchemeSearch.Found? {
        let choice = zip(search.choices, indices).map { $0[$1] }
        let found = try search.measured(choice, proof)
        return search.bound.holds(for: found.report.change) ? found : nil
    }
}

/// The networks whose operations get integers, as they were last measured.
private final class IntegerProbes {
    private var probes: [Set<String>: OutputProbe] = [:]
    /// The most that are kept.
    private static let limit = 64

    /// The network of a choice, with its weights as they are.
    func probe(of choice: [SchemeSearch.Choice], _ search: SchemeSearch) throws -> OutputProbe {
        let operations = search.integerOperations(of: choice)
        guard !operations.isEmpty else { return search.probe }
        if let known = probes[operations] { return known }
        if probes.count == Self.limit { probes = [:] }
        let probe = try search.probe.variant(search.package(of: operations))
        probes[operations] = probe
        return probe
    }
}

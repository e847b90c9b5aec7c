import Foundation
import RetintFiles

/// What differs between saved results of a verification and another run of it.
public struct ReplayReport: Sendable, Encodable {
    /// A figure or a bound that is not as it was.
    public struct Difference: Hashable, Sendable, Encodable {
        /// Its place in the results, such as `judges[0].outputs[0].metrics.max_abs`.
        public let place: String
        /// What was saved; "nothing" if there was none.
        public let saved: String
        /// What was found; "nothing" if there is none.
        public let found: String
    }

    /// Files that are not as they were: if there are any, nothing was run.
    public let files: [VerificationRecord.FileChange]
    /// The environment of the saved run.
    public let savedOn: VerificationResults.Environment
    /// The environment of this run.
    public let replayedOn: VerificationResults.Environment
    /// Whether the saved run passed.
    public let savedPassed: Bool
    /// Whether this run passed; nil if nothing was run.
    public let replayedPassed: Bool?
    /// The figures that differ, in the order of their places; names of files do not count.
    public let differences: [Difference]

    /// What a run would start from: files that are not as they were.
    ///
    /// - Parameters:
    ///   - files: the files that differ.
    ///   - saved: the saved results.
    ///   - environment: that of this process.
    public init(
        files: [VerificationRecord.FileChange], saved: VerificationResults,
        on environment: VerificationResults.Environment
    ) {
        self.files = files
        (savedOn, replayedOn) = (saved.environment, environment)
        (savedPassed, replayedPassed, differences) = (saved.passed, nil, [])
    }

    /// Compares the results of a run with saved ones.
    ///
    /// - Throws: an error of the encoder.
    public init(saved: VerificationResults, found: VerificationResults) throws {
        files = []
        (savedOn, replayedOn) = (saved.environment, found.environment)
        (savedPassed, replayedPassed) = (saved.passed, found.passed)
        var comparison = TreeComparison()
        try comparison.compare(saved.figures(), found.figures(), at: "")
        differences = comparison.differences
    }

    /// Whether the two runs are of the same version, processor, kernels and number of threads, so
    /// that all figures have to have the same bits.
    public var isSameEnvironment: Bool { savedOn == replayedOn }

    /// Whether the files, the verdict and, in the same environment, all figures are as they were.
    public var isSame: Bool {
        files.isEmpty && savedPassed == replayedPassed
            && (differences.isEmpty || !isSameEnvironment)
    }
}

extension VerificationResults {
    /// All figures and bounds, without names of files and times.
    fileprivate func figures() throws -> JSONTree {
        .object([
            "judges": try JSONTree(reports.encodedAsFigures).withoutNames,
            "missing": .list(missing.map { .text($0.judge.rawValue) }),
        ])
    }
}

extension JSONTree {
    fileprivate init(_ data: Data) throws {
        self = try JSONDecoder().decode(JSONTree.self, from: data)
    }

    /// What names a file that may have moved, and what no two runs have in common.
    private static let names: Set = [
        "model", "reference", "photo", "non_finite_in", "recorded_on", "seconds",
    ]

    fileprivate var withoutNames: JSONTree {
        switch self {
        case .object(let values):
            .object(values.filter { !Self.names.contains($0.key) }.mapValues(\.withoutNames))
        case .list(let values): .list(values.map(\.withoutNames))
        default: self
        }
    }
}

/// Collects the places where two trees differ.
private struct TreeComparison {
    private(set) var differences: [ReplayReport.Difference] = []

    mutating func compare(_ saved: JSONTree?, _ found: JSONTree?, at place: String) {
        guard saved != found else { return }
        switch (saved, found) {
        case (.object(let saved), .object(let found)):
            for key in Set(saved.keys).union(found.keys).sorted() {
                compare(saved[key], found[key], at: place.isEmpty ? key : "\(place).\(key)")
            }
        case (.list(let saved), .list(let found)):
            for index in 0..<max(saved.count, found.count) {
                compare(
                    index < saved.count ? saved[index] : nil,
                    index < found.count ? found[index] : nil, at: "\(place)[\(index)]")
            }
        default:
            differences.append(
                ReplayReport.Difference(
                    place: place, saved: saved?.description ?? "nothing",
                    found: found?.description ?? "nothing"))
        }
    }
}

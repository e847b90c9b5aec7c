import RetintGraph
import RetintMLPackage
import RetintRuntime

/// The smallest set of operations of a float16 package found to need float32.
public struct PrecisionSearch: Sendable {
    /// An operation that stays in float32.
    public struct Operation: Hashable, Sendable, Codable {
        /// The name in the package, which `retint export --keep-float32` takes.
        public let name: String
        /// The MIL type, such as `conv`.
        public let operation: String
    }

    /// The result, as shown in reports.
    public struct Summary: Hashable, Sendable, Codable {
        /// The name of the package in float16.
        public let model: String
        /// The operations that stay in float32, in the order of computation; empty if the package
        /// meets its bounds as it is; nil if not even all operations together are enough.
        public let keptInFloat32: [Operation]?
        /// The number of operations in float16 to choose from.
        public let operationCount: Int
        /// Whether there is a smaller set.
        public let minimality: VerificationReport.Minimality
        /// The number of packages that were run.
        public let runs: Int
        /// The time that the search took.
        public let seconds: Double
        /// The lowest SNR of an output in float16, in dB; nil if there are values that are not
        /// finite.
        public let snrBefore: Double?
    }

    /// The package with these operations in float32; nil if no set is enough.
    public let package: MLPackage?
    /// The result.
    public let summary: Summary
}

extension Model {
    /// Finds a smallest set of operations of a float16 package that must stay in float32 for
    /// the package to meet its bounds.
    ///
    /// - Parameters:
    ///   - other: the checkpoint that it was exported from, or a float32 package of the same
    ///     network: it gives the expected values and the weights of operations in float32.
    ///   - inputs: the inputs on which the bounds must hold.
    ///   - options: the bounds.
    ///   - maximumRuns: the largest number of packages to run.
    ///   - onRun: called after each run with the number of runs.
    /// - Throws: ``VerificationError`` if the package is not in float16, or it cannot be compared.
    public func findPrecision(
        against other: Model, on inputs: VerificationInputs,
        options: VerificationOptions, maximumRuns: Int = 500,
        onRun: @escaping (Int) -> Void = { _ in }
    ) throws -> PrecisionSearch {
        guard let package = package, precision == .float16 else {
            throw VerificationError(
                .badModel, path: name,
                "has \(precision.rawValue) weights; operations that need float32 can only be "
                    + "found in a float16 package")
        }
        let trials = try PrecisionTrials(
            package, self, other, inputs, options, original: originalPackage(of: self, from: other))
        let start = ContinuousClock.now
        let before = try trials.run([])
        onRun(1)
        var search = SubsetSearch(
            count: trials.mixed.operations.count, maximumTests: maximumRuns - 1
        ) {
            let outcome = try trials.run($0)
            onRun(trials.runs)
            return outcome
        }
        let found = before.passes ? ([], .minimum) : try search.run()
        return PrecisionSearch(
            package: found.map { trials.mixed.package(keeping: $0.elements) },
            summary: .init(
                model: name, keptInFloat32: found.map { trials.names($0.elements) },
                operationCount: trials.mixed.operations.count,
                minimality: found?.minimality ?? .unproven, runs: trials.runs,
                seconds: (ContinuousClock.now - start) / .seconds(1),
                snrBefore: before.score.isFinite ? before.score : nil))
    }
}

/// Runs a package with sets of its operations in float32.
private final class PrecisionTrials {
    let mixed: MixedPrecision
    private let model: Model
    private let inputs: VerificationInputs
    private let expected: any ExpectedValues
    private let options: VerificationOptions
    private let half: [String: VerificationReport.ErrorMetrics]
    private(set) var runs = 0

    init(
        _ package: MLPackage, _ model: Model, _ other: Model, _ inputs: VerificationInputs,
        _ options: VerificationOptions, original: MLPackage
    ) throws {
        mixed = MixedPrecision(package, original: original)
        (self.model, self.inputs, self.options) = (model, inputs, options.forSideRun)
        let recorded = try RecordedOutputs(other, for: model, on: inputs)
        expected = options.layersDecide ? ModelValues(other) : recorded
        half =
            try options.tolerance?.maxHalfRatio.map { _ in
                try halfPrecisionErrors(of: other, for: model, on: inputs, expected: recorded)
            } ?? [:]
    }

    func names(_ kept: Set<Int>) -> [PrecisionSearch.Operation] {
        kept.sorted().map { index in
            let operation = mixed.operations[index]
            return .init(name: operation.outputs[0].name, operation: operation.type)
        }
    }

    func run(_ kept: Set<Int>) throws -> SubsetSearch.Outcome {
        runs += 1
        let trial = Model(
            mixed.package(keeping: kept), name: model.name, execution: model.execution)
        let report = try VerificationRun(
            trial, against: expected, on: inputs, options, half: half,
            observes: options.layersDecide
        ).report()
        return .init(passes: report.passed, score: report.lowestSNR)
    }
}

extension VerificationReport {
    /// The lowest SNR of an output, in dB; −∞ if a value is not finite.
    var lowestSNR: Double {
        outputs.map { $0.metrics.snr.isNaN ? -.infinity : $0.metrics.snr }.min() ?? -.infinity
    }
}

import RetintExport
import RetintRuntime

extension VerificationReport {
    /// A stage of a network on its way from the checkpoint to the package on disk.
    public enum Stage: String, Hashable, Sendable, CaseIterable, Codable {
        /// The network as it was trained, in float32; the expected values are its outputs.
        case trained
        /// Batch normalizations and re-parameterized convolutions folded, as in an export, in
        /// float32.
        case folded
        /// The exported program, in memory, in the package's precision.
        case lowered
        /// The package as read from disk.
        case written
    }
}

extension VerificationReport {
    /// The error of a network at a stage of its export, against the network as it was trained.
    public struct StageComparison: Sendable, Codable {
        /// The stage.
        public let stage: VerificationReport.Stage
        /// The comparison of each output.
        public let outputs: [VerificationReport.Output]

        /// Whether all outputs are within the bounds; the bound on ΔE2000 is not checked.
        public var isWithin: Bool { outputs.allSatisfy(\.failures.isEmpty) }

        /// The same measurements, checked against other bounds.
        func judged(by tolerance: Tolerance) -> VerificationReport.StageComparison {
            VerificationReport.StageComparison(
                stage: stage, outputs: outputs.map { $0.judged(by: tolerance) })
        }
    }
}

extension Model {
    /// Compares the stages of an export with the network as it was trained.
    ///
    /// - Parameters:
    ///   - other: the checkpoint that it was exported from.
    ///   - stages: the stages to compare, in any order.
    ///   - inputs: the inputs of all runs.
    ///   - options: the arithmetic of the last two stages, and the bounds.
    /// - Returns: the stages in the order of an export.
    /// - Throws: ``VerificationError`` if retint did not export the package from such a checkpoint.
    public func compareStages(
        _ stages: [VerificationReport.Stage], against other: Model,
        on inputs: VerificationInputs, options: VerificationOptions
    ) throws -> [VerificationReport.StageComparison] {
        guard let package = package, let checkpoint = other.checkpoint else {
            throw VerificationError(
                .mismatch, path: name,
                "the stages are those of exporting a checkpoint to a package; name a package, and "
                    + "compare it with its checkpoint")
        }
        let expected = try RecordedOutputs(other, for: self, on: inputs)
        let half =
            try options.tolerance?.maxHalfRatio.map { _ in
                try halfPrecisionErrors(of: other, for: self, on: inputs, expected: expected)
            } ?? [:]
        func exported(_ precision: ExportOptions.Precision) throws -> Model {
            let source = try ExportSource(checkpoint.checkpoint())
            guard let package = try originalPackage(of: package, from: source, precision: precision)
            else { throw VerificationError.notExported(self, from: other) }
            return Model(package, name: name, execution: execution)
        }
        func form(at stage: VerificationReport.Stage) throws -> Model {
            switch stage {
            case .trained: other
            case .folded: try exported(.float32)
            case .lowered: try exported(try ExportOptions(of: package).precision)
            case .written: self
            }
        }
        return try VerificationReport.Stage.allCases.filter(stages.contains).map { stage in
            var stageOptions = options.forSideRun
            if stage == .trained || stage == .folded { stageOptions.compute = .float32 }
            let stageInputs = stage == .trained ? try inputs.roundTripped(for: self) : inputs
            let report = try VerificationRun(
                form(at: stage), against: expected, on: stageInputs, stageOptions, half: half
            ).report()
            return VerificationReport.StageComparison(stage: stage, outputs: report.outputs)
        }
    }
}

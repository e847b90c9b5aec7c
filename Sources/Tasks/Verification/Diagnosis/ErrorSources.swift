import Glibc
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime

extension VerificationReport {
    /// How much of a package's error comes from its weights, and how much from its arithmetic.
    public struct ErrorSources: Sendable, Codable {
        /// The error of a weight.
        public struct Tensor: Hashable, Sendable, Codable {
            /// The name of the constant in the package.
            public let name: String
            /// The number of values.
            public let count: Int
            /// The largest absolute error.
            public let maxAbsError: Double
            /// The SNR in dB; infinite if all values are equal.
            public let snrDb: Double
        }

        /// The package's weights in the original float32 arithmetic.
        public let weights: [VerificationReport.Output]
        /// The original weights in the package's arithmetic.
        public let arithmetic: [VerificationReport.Output]
        /// The error of each weight, in the order of the program.
        public let tensors: [Tensor]

        /// The share of the weights in the noise power of both, 0…1, for an output by its index;
        /// nil if there is no noise, or it is not finite.
        public func weightShare(of index: Int) -> Double? {
            let powers = [weights[index], arithmetic[index]].map { pow(10, -$0.metrics.snr / 10) }
            let share = powers[0] / (powers[0] + powers[1])
            return share.isNaN ? nil : share
        }
    }
}

extension Model {
    /// Runs a package's weights in float32, and the original weights in the package's arithmetic.
    ///
    /// - Parameters:
    ///   - other: the checkpoint that it was exported from, or a float32 package of the same
    ///     network.
    ///   - inputs: the inputs of all runs.
    ///   - options: the bounds and the arithmetic are ignored: these runs are not checked against
    ///     bounds, and the arithmetic is the one that the package declares.
    /// - Throws: ``VerificationError`` if the package's weights cannot be paired with those of the
    ///   other model.
    public func errorSources(
        against other: Model, on inputs: VerificationInputs,
        options: VerificationOptions
    ) throws -> VerificationReport.ErrorSources {
        guard let package = package else {
            throw VerificationError(
                .badModel, path: name,
                "is a checkpoint, which has the original weights and arithmetic; name a package")
        }
        let constants = OriginalConstants(
            package, original: try originalPackage(of: self, from: other))
        guard !constants.pairs.isEmpty else {
            throw VerificationError.notExported(self, from: other)
        }
        let expected = try RecordedOutputs(other, for: self, on: inputs)
        func outputs(_ package: MLPackage, _ compute: ComputePrecision) throws
            -> [VerificationReport.Output]
        {
            var options = options.forSideRun
            options.compute = compute
            options.tolerance = Tolerance()
            let variant = Model(package, name: name, execution: execution)
            return try VerificationRun(
                variant, against: expected, on: inputs, options, observes: false
            ).report().outputs
        }
        // Rounding all results would also round the original weights.
        let arithmetic =
            computePrecision == .float32 ? ComputePrecision.float32 : .mixed
        return VerificationReport.ErrorSources(
            weights: try outputs(package, .float32),
            arithmetic: try outputs(package.withConstants(constants), arithmetic),
            tensors: try constants.errors(in: package))
    }
}

extension MLPackage {
    /// The package with the original constants, only for running: the types do not match.
    fileprivate func withConstants(_ constants: OriginalConstants) -> MLPackage {
        var assembly = ProgramAssembly(program)
        for input in program.inputs { assembly.input(input.name) }
        for operation in program.computing {
            assembly.add(
                operation,
                replacing: constants.replacements[operation.outputs[0].name] ?? [:])
        }
        for output in program.outputs { assembly.output(output) }
        var result = self
        result.program = assembly.program
        return result
    }
}

extension OriginalConstants {
    fileprivate func errors(in package: MLPackage) throws -> [VerificationReport.ErrorSources
        .Tensor]
    {
        let own = Dictionary(try PackageConstants(package).tensors().map { ($0.name, $0.data) }) {
            first, _ in first
        }
        return try pairs.compactMap { name, original in
            guard let computed = own[name]?.scalars else { return nil }
            var sums = ErrorSums()
            sums.add(computed: computed, expected: try original.floats())
            let isFinite = sums.isFinite
            return .init(
                name: name, count: sums.count, maxAbsError: isFinite ? sums.maxAbs : .nan,
                snrDb: isFinite ? sums.snr : .nan)
        }
    }
}

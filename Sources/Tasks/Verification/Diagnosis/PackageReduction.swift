public import RetintFiles
import RetintGraph
import RetintMLPackage
import RetintRuntime
import RetintTensorFiles

/// The smallest part of a package that fails by itself, as far as found.
public struct PackageReduction: Sendable {
    /// An operation of the part.
    public struct Operation: Hashable, Sendable, Codable {
        /// The name in the package.
        public let name: String
        /// The MIL type, such as `conv`.
        public let operation: String
    }

    /// The result, as shown in reports.
    public struct Summary: Hashable, Sendable, Codable {
        /// The operations, in order.
        public let operations: [Operation]
        /// The number of operations of the whole package.
        public let operationCount: Int
        /// The input values of the part.
        public let inputs: [String]
        /// The value that it computes.
        public let output: String
        /// The name of the input of the run in which the values were recorded.
        public let recordedOn: String
        /// The bounds that the part violates: those of the package, adapted to the range of its
        /// output.
        public let tolerance: Tolerance
        /// A sentence for each violated bound.
        public let failures: [String]
        /// The SNR of its output in dB; nil if it has values that are not finite.
        public let snrDb: Double?
        /// The number of parts that were run.
        public let runs: Int
        /// The time that it took.
        public let seconds: Double
    }

    /// The part as a separate package.
    public let package: MLPackage
    /// The recorded inputs, and the expected output.
    public let reference: Reference
    /// The result.
    public let summary: Summary

    /// Writes the package and, as a reference file, the recorded inputs and the expected output.
    /// Neither is there without the other.
    ///
    /// - Throws: `MLPackageError`, `TensorFileError` or `FileError` if they cannot be written.
    public func write(
        to path: some PathConvertible, reference file: some PathConvertible
    ) throws {
        try AtomicFile.replace(file) { temporary in
            try writeReference(to: temporary)
            try package.write(to: path)
        }
    }

    /// Writes the recorded inputs and the expected output as a reference file.
    ///
    /// - Throws: `TensorFileError` if it cannot be written.
    public func writeReference(to path: some PathConvertible) throws {
        let writer = try HDF5Writer(path: path)
        for (group, tensors) in [("inputs", reference.inputs), ("outputs", reference.outputs)] {
            for tensor in tensors {
                try writer.write(StoredTensor(tensor.data), to: "\(group)/\(tensor.name)")
            }
        }
        try writer.finish()
    }
}

extension Model {
    /// Reduces a package that fails against another model to a small part that still fails.
    ///
    /// The inputs of the part are the other model's values, so that errors that arise before it
    /// do not count.
    ///
    /// - Parameters:
    ///   - other: the model that computes the expected values.
    ///   - inputs: the inputs of all runs; the first for which an output fails is used.
    ///   - options: the arithmetic and the bounds.
    ///   - onRun: called after each run with the number of runs.
    /// - Returns: nil if the outputs are within the bounds.
    /// - Throws: ``VerificationError`` if the models cannot be compared.
    public func reduce(
        against other: Model, on inputs: VerificationInputs,
        options: VerificationOptions, onRun: @escaping (Int) -> Void = { _ in }
    ) throws -> PackageReduction? {
        let expected = ModelValues(other, isRowMajor: true)
        return try PartSearch(self, expected, inputs, options, onRun)?.run()
    }

    /// Reduces a package that fails against a reference with activations to a small part that still
    /// fails.
    ///
    /// - Parameters:
    ///   - reference: the expected values; the part can begin and end at its activations.
    ///   - options: the arithmetic and the bounds.
    ///   - onRun: called after each run with the number of runs.
    /// - Returns: nil if the outputs are within the bounds.
    /// - Throws: ``VerificationError`` if the model cannot be compared.
    public func reduce(
        against reference: Reference, options: VerificationOptions,
        onRun: @escaping (Int) -> Void = { _ in }
    ) throws -> PackageReduction? {
        let inputs = VerificationInputs(
            reference, batchSize: try verifying { try batchSize })
        return try PartSearch(self, ReferenceValues(reference), inputs, options, onRun)?.run()
    }
}

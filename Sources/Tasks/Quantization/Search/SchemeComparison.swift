import RetintEngine
import RetintGraph
import RetintMLPackage
import RetintRuntime
import RetintTensors

extension QuantizationReport {
    /// The size and the change of the outputs of a package quantized with one scheme.
    public struct SchemeResult: Hashable, Sendable, Encodable {
        /// The description of the scheme, such as `int4 per-block 32`.
        public let scheme: String
        /// The size of all weights in bytes; nil if the scheme fails.
        public let bytes: Int?
        /// The same before compression, in bytes; nil if the scheme fails.
        public let bytesBefore: Int?
        /// The number of weights that were compressed, of all; nil if the scheme fails.
        public let compressedCount, weightCount: Int?
        /// The change of the outputs; nil if the scheme fails.
        public let change: QuantizationReport.OutputChange?
        /// Why the scheme fails; nil if it does not.
        public let failure: String?
    }
}

extension MLPackage {
    /// Quantizes the package with each scheme in memory and compares sizes and outputs.
    ///
    /// - Parameters:
    ///   - schemes: the schemes to compare; those that the package's deployment target does not
    ///     support are skipped.
    ///   - inputs: the inputs of runs on which outputs are compared, at least one; L in 0…100 for
    ///     lightness.
    ///   - calibration: the inputs to calibrate on, as for
    ///     ``quantized(_:calibration:execution:)``.
    ///   - execution: how the network runs.
    ///   - progress: called repeatedly with the finished share of the work, 0…1.
    /// - Returns: one result for each remaining scheme, in the order of `schemes`.
    /// - Throws: `ConversionError` without inputs; `ModelError` if the package cannot be run on
    ///   them. A scheme that fails does not throw: its result has a `failure`.
    public func compareSchemes(
        _ schemes: [QuantizationScheme] = QuantizationScheme.usual,
        on inputs: [[NamedTensor]], calibration: [[NamedTensor]] = [],
        execution: Execution = .init(),
        progress: (Double) -> Void = { _ in }
    ) throws -> [QuantizationReport.SchemeResult] {
        let model = Model(self, execution: execution)
        let probe = try OutputProbe(model, inputs: inputs)
        let schemes = schemes.filter { (try? $0.check(target)) != nil }
        var steps = schemes.count + (calibration.isEmpty ? 0 : weights.count)
        let all = Double(max(steps, 1))
        func step() {
            steps -= 1
            progress(1 - Double(steps) / all)
        }
        let attempts = try RetintQuantization.quantized(
            self, by: schemes.map { QuantizationPlan($0) },
            Calibration(model, unlessEmpty: calibration), progress: step)
        return try zip(schemes, attempts).map { scheme, attempt in
            defer { step() }
            return try QuantizationReport.SchemeResult(scheme, attempt, probe)
        }
    }
}

extension QuantizationReport.SchemeResult {
    fileprivate init(
        _ scheme: QuantizationScheme, _ attempt: Result<QuantizedPackage, any Error>,
        _ probe: OutputProbe
    ) throws {
        self.scheme = "\(scheme)"
        switch attempt {
        case .success(let outcome):
            let report = outcome.report
            (bytes, bytesBefore) = (report.bytesAfter, report.bytesBefore)
            compressedCount = report.compressed.count
            weightCount = report.weightCount
            failure = nil
            change = try probe.change(to: outcome.package)
        case .failure(let error):
            (bytes, bytesBefore, change, failure) = (nil, nil, nil, "\(error)")
            (compressedCount, weightCount) = (nil, nil)
        }
    }
}

extension QuantizationScheme {
    /// The schemes that are compared by default: the common combinations of precision and
    /// granularity, from the largest to the smallest.
    public static var usual: [QuantizationScheme] {
        func group(_ bits: Int) -> QuantizationScheme {
            .init(.palette(bits: bits), granularity: .perGroup, blockSize: 16)
        }
        return [
            .init(.float16), .init(.int8), .init(.int8, granularity: .perTensor),
            .init(.palette(bits: 8)), .init(.palette(bits: 6)), group(6),
            .init(.int4, granularity: .perBlock), .init(.int4), .init(.palette(bits: 4)),
            group(4), .init(.palette(bits: 3)), .init(.palette(bits: 2)),
            .init(.palette(bits: 1)),
        ]
    }
}

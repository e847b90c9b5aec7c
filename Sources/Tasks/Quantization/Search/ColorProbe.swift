import RetintColor
import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime
import RetintTensors

/// Measures how much the colors of photos change when weights of a package are replaced.
final class ColorProbe {
    private let program: ModelProgram
    private let variables: [String: any TensorSource]
    private let photos: [TensorData]
    private let execution: Execution
    private var expected: [LabPlanes] = []

    /// - Parameter photos: lightness [1, 1, H, W] in 0…100, of the package's input size.
    /// - Throws: `ConversionError` without photos; `ModelError` if the model is not a colorizer.
    init(_ model: Model, photos: [TensorData]) throws {
        guard !photos.isEmpty else {
            throw ConversionError(
                place: "photos", rule: "comparing colors needs at least one photo",
                remedy: "Pass at least one photo.")
        }
        let graph = try model.colorizerGraph()
        variables = graph.variables
        (self.photos, execution) = (photos, model.execution)
        program = try ModelProgram(graph)
        expected = try photos.map(colors)
    }

    private func colors(of lightness: TensorData) throws -> LabPlanes {
        LabPlanes(lightness, ab: try program.predictUnrounded(lightness))
    }

    /// The color change caused by replacing some weights, named by `weights`.
    ///
    /// - Parameter count: the number of photos to compare, from the first one.
    func change(to weights: [String: [Float]], onFirst count: Int) throws
        -> QuantizationReport.ColorChange
    {
        var changed: [String: TensorData] = [:]
        for (name, values) in weights {
            guard let old = variables[name] else { continue }
            changed[name] = TensorData(shape: old.shape, scalars: values)
        }
        try program.load(changed)
        defer { try? program.load(variables.filter { changed[$0.key] != nil }) }
        return try QuantizationReport.ColorChange(
            from: Array(expected.prefix(count)), to: photos.prefix(count).map(colors))
    }

    /// The difference between the colors of the original package and those of another one.
    func change(to package: MLPackage) throws -> QuantizationReport.ColorChange {
        let other = try ColorProbe(Model(package, execution: execution), photos: photos)
        return try QuantizationReport.ColorChange(from: expected, to: other.expected)
    }
}

extension QuantizationReport {
    /// The difference between the colors that two packages predict for the same photos.
    public struct ColorChange: Hashable, Sendable, Encodable {
        /// The mean CIEDE2000 difference over all pixels.
        public let deltaE2000: Double
        /// The PSNR of the a and b channels in dB, for a peak of 220; nil if they are identical.
        public let psnrDb: Double?

        /// - Precondition: all images have the same size.
        init(from expected: [LabPlanes], to computed: [LabPlanes]) throws {
            deltaE2000 =
                try zip(expected, computed).reduce(0) { $0 + (try meanDeltaE2000($1.0, $1.1)) }
                / Double(expected.count)
            let ratio = try psnr(
                expected.flatMap { $0.a + $0.b }, computed.flatMap { $0.a + $0.b },
                peak: LabPlanes.abSpan)
            psnrDb = ratio.isFinite ? ratio : nil
        }
    }
}

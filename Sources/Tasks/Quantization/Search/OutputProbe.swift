import Glibc
import RetintColor
import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime
import RetintTensors

/// Measures how much the outputs of a package change when its weights are replaced.
final class OutputProbe {
    private let program: ModelProgram
    private let variables: [String: any TensorSource]
    private let inputs: [[NamedTensor]]
    private let execution: Execution
    private var expected: [[NamedTensor]] = []
    private let hasTargets: Bool

    /// - Parameters:
    ///   - inputs: the inputs of each run; L in 0…100 for lightness.
    ///   - targets: what the outputs of each run are compared with; the model's own if nil.
    /// - Throws: `ConversionError` without inputs, or if the targets are not such outputs;
    ///   `ModelError` if the model does not run on the inputs.
    init(_ model: Model, inputs: [[NamedTensor]], targets: [[NamedTensor]]? = nil) throws {
        guard let first = inputs.first else {
            throw ConversionError(
                place: "photos", rule: "comparing outputs needs at least one photo",
                remedy: "Pass at least one photo.")
        }
        let graph = try model.graph(on: first)
        if graph.interface.isColorizer { try graph.checkIsColorizer() }
        variables = graph.variables
        (self.inputs, execution) = (inputs, model.execution)
        hasTargets = targets != nil
        program = try ModelProgram(graph)
        guard let targets else {
            expected = try inputs.map(program.finiteOutputs)
            return
        }
        let own = try program.finiteOutputs(of: first)
        expected = try targets.map { try $0.ordered(like: own) }
        guard targets.count == inputs.count else {
            throw ConversionError(
                place: "targets", rule: "there are \(targets.count) for \(inputs.count) inputs",
                remedy: "Pass one set of outputs for each input.")
        }
    }

    /// One of the same runs of another form of the package, compared with the same outputs.
    func variant(_ package: MLPackage) throws -> OutputProbe {
        try OutputProbe(
            Model(package, execution: execution), inputs: inputs, targets: expected)
    }

    /// The number of runs.
    var count: Int { inputs.count }

    /// Whether the outputs are a and b, so that changes have a ΔE2000.
    var isColorizer: Bool { program.isColorizer }

    /// The difference of the package itself: that to the targets, if there are any.
    ///
    /// - Parameter count: the number of runs to compare, from the first one.
    func ownChange(onFirst count: Int) throws -> QuantizationReport.OutputChange {
        if hasTargets { return try change(to: [:], onFirst: count) }
        return try change(from: expected, to: expected, Array(inputs.prefix(count)))
    }

    /// The change caused by replacing some weights, named by `weights`.
    ///
    /// - Parameter count: the number of runs to compare, from the first one.
    func change(to weights: [String: [Float]], onFirst count: Int) throws
        -> QuantizationReport.OutputChange
    {
        var changed: [String: TensorData] = [:]
        for (name, values) in weights {
            guard let old = variables[name] else { continue }
            changed[name] = TensorData(shape: old.shape, scalars: values)
        }
        try program.load(changed)
        defer { try? program.load(variables.filter { changed[$0.key] != nil }) }
        return try change(on: Array(inputs.prefix(count))) {
            try self.program.finiteOutputs(of: $0)
        }
    }

    /// The elements of a compressed weight, and of the small constants that changed with it, such
    /// as a bias.
    ///
    /// - Parameters:
    ///   - package: the package of which only this weight was compressed.
    ///   - weight: its name.
    func variables(of package: MLPackage, compressing weight: String) throws -> [String: [Float]] {
        let graph = try Model(package, execution: execution).graph(on: inputs[0])
        var changed: [String: [Float]] = [:]
        for (name, source) in graph.variables {
            guard let own = variables[name], own.shape == source.shape,
                name == weight || own.shape.count <= Self.smallCount
            else { continue }
            let elements = try source.tensorData().scalars
            if try own.tensorData().scalars != elements { changed[name] = elements }
        }
        return changed
    }

    /// Larger constants are not changed with a weight.
    private static let smallCount = 1 << 14

    /// The difference between the outputs of the original package and those of another one.
    ///
    /// - Parameter count: the number of runs to compare, from the first one; nil for all.
    func change(
        to package: MLPackage, onFirst count: Int? = nil
    ) throws -> QuantizationReport.OutputChange {
        let inputs = Array(inputs.prefix(count ?? .max))
        let other = try OutputProbe(Model(package, execution: execution), inputs: inputs)
        guard other.outputSummary == outputSummary else {
            throw ConversionError(
                place: "outputs", rule: "they are \(other.outputSummary), not \(outputSummary)",
                remedy: "Compare packages of the same network.")
        }
        return try change(from: expected, to: other.expected, inputs)
    }

    private var outputSummary: String { expected.first?.summary ?? "" }

    private func change(
        on inputs: [[NamedTensor]], _ run: ([NamedTensor]) throws -> [NamedTensor]
    ) throws -> QuantizationReport.OutputChange {
        try change(from: expected, to: inputs.map(run), inputs)
    }

    private func change(
        from expected: [[NamedTensor]], to computed: [[NamedTensor]], _ inputs: [[NamedTensor]]
    ) throws -> QuantizationReport.OutputChange {
        try QuantizationReport.OutputChange(
            from: Array(expected.prefix(inputs.count)), to: computed,
            lightness: isColorizer ? inputs.map { $0[0].data } : nil)
    }
}

extension [NamedTensor] {
    /// Targets in the order of a model's outputs.
    ///
    /// - Throws: `ConversionError` if one is missing, or has another shape.
    fileprivate func ordered(like outputs: [NamedTensor]) throws -> [NamedTensor] {
        try outputs.map { output in
            // A single one may have another name.
            let found =
                first { $0.name == output.name }
                ?? (count == 1 && outputs.count == 1 ? self[0] : nil)
            guard let found, found.data.shape == output.data.shape else {
                let known = map { "\($0.name) \($0.data.shape)" }.joined(separator: ", ")
                throw ConversionError(
                    place: "output \(output.name)",
                    rule: "it has shape \(output.data.shape), and the reference has \(known)",
                    remedy: "Record the outputs of this model, for its inputs.")
            }
            return NamedTensor(output.name, found.data)
        }
    }
}

extension QuantizationReport {
    /// The difference between the outputs of two packages for the same inputs.
    public struct OutputChange: Hashable, Sendable, Encodable {
        /// The mean CIEDE2000 difference over all pixels; nil if the outputs are not colors.
        public let deltaE2000: Double?
        /// The PSNR of the a and b channels in dB, for a peak of 220; nil if they are identical, or
        /// if the outputs are not colors.
        public let psnrDb: Double?
        /// The SNR of the output where it is lowest, in dB; nil if all are identical.
        public let snrDb: Double?

        /// - Parameter lightness: L in 0…100 of each run, if the outputs are a and b.
        /// - Precondition: the outputs of all runs have the same names and shapes.
        init(
            from expected: [[NamedTensor]], to computed: [[NamedTensor]],
            lightness: [TensorData]?
        ) throws {
            snrDb = Self.lowestSNR(expected, computed)
            guard let lightness else {
                (deltaE2000, psnrDb) = (nil, nil)
                return
            }
            func colors(_ outputs: [[NamedTensor]]) -> [LabPlanes] {
                zip(lightness, outputs).compactMap { lightness, outputs in
                    joinedColors(of: outputs).map { LabPlanes(lightness, ab: $0) }
                }
            }
            let (before, after) = (colors(expected), colors(computed))
            deltaE2000 =
                try zip(before, after).reduce(0) { $0 + (try meanDeltaE2000($1.0, $1.1)) }
                / Double(before.count)
            let ratio = try psnr(
                before.flatMap { $0.a + $0.b }, after.flatMap { $0.a + $0.b },
                peak: LabPlanes.abSpan)
            psnrDb = ratio.isFinite ? ratio : nil
        }

        private static func lowestSNR(
            _ expected: [[NamedTensor]], _ computed: [[NamedTensor]]
        ) -> Double? {
            let outputs = expected.first?.indices ?? 0..<0
            let ratios = outputs.compactMap { output -> Double? in
                var (signal, noise) = (0.0, 0.0)
                for (before, after) in zip(expected, computed) {
                    for (e, c) in zip(before[output].data.scalars, after[output].data.scalars) {
                        let error = Double(c) - Double(e)
                        signal += Double(e) * Double(e)
                        noise += error * error
                    }
                }
                return noise == 0 ? nil : 10 * log10(signal / noise)
            }
            return ratios.min()
        }
    }
}

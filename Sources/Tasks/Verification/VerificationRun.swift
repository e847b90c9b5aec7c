import RetintFiles
import RetintGraph
import RetintRuntime

/// A model that retint's engine runs, what it is compared with, and on which inputs.
struct VerificationRun {
    let model: Model
    let expected: any ExpectedValues
    let inputs: VerificationInputs
    let options: VerificationOptions
    /// The error of the reference network in half precision by output, if a bound needs it.
    let half: [String: VerificationReport.ErrorMetrics]
    /// What float32 loses in the reference network by output, if a bound needs it.
    let rounding: [String: VerificationReport.ErrorMetrics]
    /// Whether intermediate values are compared.
    let observes: Bool

    init(
        _ model: Model, against expected: any ExpectedValues, on inputs: VerificationInputs,
        _ options: VerificationOptions, half: [String: VerificationReport.ErrorMetrics] = [:],
        rounding: [String: VerificationReport.ErrorMetrics] = [:], observes: Bool = true
    ) {
        (self.model, self.expected, self.inputs) = (model, expected, inputs)
        (self.options, self.half, self.rounding) = (options, half, rounding)
        self.observes = observes
    }

    /// Runs the model, and writes the values of its first run if the options ask for that.
    func report() throws -> VerificationReport {
        guard let path = options.intermediates else { return try report(writing: nil) }
        return try AtomicFile.replace(path, content: IntermediatesWriter.content) { folder in
            try createFolder(folder)
            return try report(writing: folder)
        }
    }

    /// - Parameter folder: where the values of the first run are written; nowhere if nil.
    private func report(writing folder: String?) throws -> VerificationReport {
        let first = try inputs.input(0)
        let program = try verifying {
            try model.program(
                on: first.tensors, compute: compute, observes: observes || folder != nil)
        }
        try expected.prepare(first: first, runs: inputs.count)
        try expected.match(program, on: inputs)
        var layers = LayerGathering(program, expected: expected)
        let bounds = try options.bounds(model.precision, expected)
        var outputs = try ComparisonGathering(
            path: model.name, runs: inputs.count, tolerance: bounds.tolerance, expected: expected)
        for index in 0..<inputs.count {
            let input = index == 0 ? first : try inputs.input(index)
            let writer =
                try index > 0
                ? nil
                : folder.map { try IntermediatesWriter($0, of: program, inputs: input.tensors) }
            let computed = try run(program, input, at: index, &layers, writer)
            let colors = try outputs.add(computed, try expected.outputs(), input)
            try colors.map(options.onColors)
        }
        return report(outputs, layers.reports(bounds.layerTolerance), bounds)
    }

    /// - Returns: the model's outputs.
    private func run(
        _ program: ModelProgram, _ input: VerificationInputs.Input, at index: Int,
        _ layers: inout LayerGathering, _ writer: IntermediatesWriter?
    ) throws -> [NamedTensor] {
        try expected.begin(program.roundTripped(input.tensors), at: index)
        var run = try verifying { try program.start(input.tensors) }
        while let values = run.next() {
            for value in values {
                try layers.add(value, in: input.label)
                try writer?.add(value)
            }
        }
        let computed = program.named(try verifying { try run.finish() })
        try writer?.finish(computed)
        return computed
    }

    private func report(
        _ outputs: ComparisonGathering, _ layers: [VerificationReport.Layer],
        _ bounds: VerificationBounds
    ) -> VerificationReport {
        VerificationReport(
            judge: isOnGPU ? .cuda : .retint,
            runtime: isOnGPU ? VerificationReport.gpuEngine : VerificationReport.engine,
            model: model.name,
            reference: expected.source, isSameNetwork: expected.isSameNetwork,
            isColorizer: outputs.isColorizer, precision: model.precision, compute: compute,
            tolerance: bounds.tolerance,
            outputs: outputs.outputs.map {
                $0.comparison(half: half[$0.name], rounding: rounding[$0.name])
            },
            color: outputs.color, photos: outputs.photos, layers: layers,
            layerTolerance: bounds.layerTolerance, layersDecide: bounds.layersDecide)
    }

    private var isOnGPU: Bool { model.execution.device.isGPU }

    private var compute: ComputePrecision { options.compute ?? model.computePrecision }
}

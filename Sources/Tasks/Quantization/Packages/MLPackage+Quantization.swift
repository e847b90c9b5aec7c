import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime
import RetintTensors

extension MLPackage {
    /// Compresses the weights of the package, and quantizes the inputs of its operations.
    ///
    ///     let package = try MLPackage(contentsOf: "colorizer.mlpackage")
    ///     let (small, report) = try package.quantized(QuantizationPlan(.init(.int8)))
    ///     try small.write(to: "small.mlpackage")
    ///
    /// The inputs, outputs and compute precision stay the same. Core ML decompresses the weights
    /// when it loads the model. Weights are calibrated on the inputs as quantized.
    ///
    /// - Parameters:
    ///   - plan: the scheme of each weight, and of the inputs of operations.
    ///   - calibration: the inputs of runs, L in 0…100 for lightness. With inputs, scales, tables
    ///     and rounding minimize the error of each operation's output instead of the error of the
    ///     weight, and biases absorb the remaining mean error. Activations need inputs.
    ///   - execution: how the network runs on the inputs.
    /// - Returns: the compressed package, and what was done to each weight.
    /// - Throws: `ConversionError` for inconsistent schemes, for weights that are not finite or
    ///   exceed the float16 range, and if no weight can be compressed; `ModelError` if the package
    ///   cannot be run on the inputs.
    public func quantized(
        _ plan: QuantizationPlan, calibration: [[NamedTensor]] = [], execution: Execution = .init()
    ) throws -> (package: MLPackage, report: QuantizationReport) {
        try plan.check(self)
        guard !plan.activations.all.isEmpty else {
            return try compressed(plan, calibration, execution)
        }
        let smooth = try smoothed(as: plan, on: calibration, execution)
        let activations = try ActivationQuantization(
            smooth, plan.activations, execution, on: calibration)
        let package = activations.quantized()
        var result = try package.compressed(plan, calibration, execution)
        result.report.activations = activations.report()
        return result
    }

    /// The package with its channels evened out, if the plan says so and there are inputs.
    func smoothed(
        as plan: QuantizationPlan, on inputs: [[NamedTensor]], _ execution: Execution
    ) throws -> MLPackage {
        guard let smoothing = plan.smoothing, !inputs.isEmpty else { return self }
        return try smoothed(smoothing, on: inputs, execution)
    }

    /// The package with the weights of a plan.
    func compressed(
        _ plan: QuantizationPlan, _ calibration: [[NamedTensor]], _ execution: Execution
    ) throws -> QuantizedPackage {
        let calibration =
            plan.weights.all.isEmpty
            ? nil : try Calibration(Model(self, execution: execution), unlessEmpty: calibration)
        return try RetintQuantization.quantized(self, plan, calibration)
    }

    /// The difference between the outputs of this package and of another one.
    ///
    /// - Parameters:
    ///   - inputs: the inputs of runs, at least one; L in 0…100 for lightness.
    ///   - execution: how the networks run.
    /// - Throws: `ConversionError` without inputs; `ModelError` if a package does not run on them,
    ///   or its outputs are not finite.
    public func outputChange(
        to other: MLPackage, on inputs: [[NamedTensor]], execution: Execution = .init()
    ) throws -> QuantizationReport.OutputChange {
        let model = Model(self, execution: execution)
        return try OutputProbe(model, inputs: inputs).change(to: other)
    }
}

import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime
import RetintTensors

extension MLPackage {
    /// Compresses the weights of the package.
    ///
    ///     let package = try MLPackage(contentsOf: "colorizer.mlpackage")
    ///     let (small, report) = try package.quantized(QuantizationPlan(.init(.int8)))
    ///     try small.write(to: "small.mlpackage")
    ///
    /// The inputs, outputs and compute precision stay the same. Core ML decompresses the weights
    /// when it loads the model.
    ///
    /// - Parameters:
    ///   - plan: the scheme of each weight.
    ///   - calibration: lightness [1, 1, H, W] in 0…100 of the package's input size. With
    ///     photos, scales, tables and rounding minimize the error of each operation's output
    ///     instead of the error of the weight, and biases absorb the remaining mean error.
    ///   - execution: how the network runs on the photos.
    /// - Returns: the compressed package, and what was done to each weight.
    /// - Throws: `ConversionError` for inconsistent schemes, for weights that are not finite or
    ///   exceed the float16 range, and if no weight can be compressed; `ModelError` if the package
    ///   cannot be run on the photos.
    public func quantized(
        _ plan: QuantizationPlan, calibration: [TensorData] = [], execution: Execution = .init()
    ) throws -> (package: MLPackage, report: QuantizationReport) {
        try plan.check(self)
        let model = Model(self, execution: execution)
        return try RetintQuantization.quantized(
            self, plan, Calibration(model, unlessEmpty: calibration))
    }

    /// The difference between the colors that this package and another one predict.
    ///
    /// - Parameters:
    ///   - photos: lightness [1, 1, H, W] in 0…100 of the input size of both packages; at least
    ///     one.
    ///   - execution: how the network runs on the photos.
    /// - Throws: `ConversionError` without photos; `ModelError` if a package is not a colorizer or
    ///   predicts colors that are not finite.
    public func colorChange(
        to other: MLPackage, photos: [TensorData], execution: Execution = .init()
    ) throws -> QuantizationReport.ColorChange {
        let model = Model(self, execution: execution)
        return try ColorProbe(model, photos: photos).change(to: other)
    }
}

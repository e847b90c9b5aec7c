import MIL
import MLPackage
import TensorGraph

extension MLPackage {
    /// The package with its weights in fewer bits.
    ///
    ///     let package = try MLPackage(contentsOf: "colorizer.mlpackage")
    ///     let (small, report) = try package.quantized(QuantizationPlan(.init(.int8)))
    ///     try small.write(to: "small.mlpackage")
    ///
    /// The interface and the arithmetic stay the same; weights are unpacked when the model loads.
    ///
    /// - Parameters:
    ///   - plan: the scheme of each weight.
    ///   - calibration: lightness [1, 1, H, W] in 0…100 of the size that the package takes. With
    ///     photos, scales, tables and rounding minimize the error of each operation's output instead
    ///     of the error of the weight, and biases absorb the remaining mean error.
    /// - Throws: `ConversionError` for schemes that are inconsistent, for weights that are not finite
    ///   or beyond float16, and if no weight can be compressed; `ModelError` if the package cannot be
    ///   run on the photos.
    public func quantized(
        _ plan: QuantizationPlan, calibration: [TensorData] = []
    ) throws -> (package: MLPackage, report: QuantizationReport) {
        try plan.check(self)
        return try Quantization.quantized(
            self, plan, try Calibration(self, unlessEmpty: calibration))
    }

    /// The difference between the colors of this package and those of another one.
    ///
    /// - Parameter photos: lightness [1, 1, H, W] in 0…100 of the size that both packages take; at
    ///   least one.
    /// - Throws: `ModelError` if a package is no colorizer or gives colors that are not finite.
    public func colorChange(to other: MLPackage, photos: [TensorData]) throws -> ColorChange {
        try ColorProbe(self, photos: photos).change(to: other)
    }
}

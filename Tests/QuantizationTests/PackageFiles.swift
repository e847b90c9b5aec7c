import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintQuantization
import RetintRuntime
import RetintTensors

// Quantization from one package file to another, as the command does it.

func quantizePackage(
    at source: String, to target: String, plan: QuantizationPlan, calibration: [TensorData] = []
) throws -> QuantizationReport {
    let (package, report) = try MLPackage(contentsOf: source)
        .quantized(plan, calibration: inputs(calibration))
    try package.write(to: target)
    return report
}

func searchQuantization(
    of source: String, to target: String, photos: [TensorData], maximumDeltaE: Double
) throws -> QuantizationSearchReport {
    let (package, report) = try MLPackage(contentsOf: source)
        .searchQuantization(on: inputs(photos), within: .meanDeltaE(maximumDeltaE))
    try package.write(to: target)
    return report
}

func compareSchemes(
    _ schemes: [QuantizationScheme] = QuantizationScheme.usual, onPackage path: String,
    photos: [TensorData], calibration: [TensorData] = []
) throws -> [QuantizationReport.SchemeResult] {
    try MLPackage(contentsOf: path)
        .compareSchemes(schemes, on: inputs(photos), calibration: inputs(calibration))
}

func colorChange(
    from source: String, to target: String, photos: [TensorData]
) throws -> QuantizationReport.OutputChange {
    try MLPackage(contentsOf: source)
        .outputChange(to: MLPackage(contentsOf: target), on: inputs(photos))
}

/// The inputs of a colorizer.
private func inputs(_ photos: [TensorData]) -> [[NamedTensor]] {
    photos.map { [NamedTensor("lightness", $0)] }
}

extension QuantizationReport.OutputChange {
    /// The mean CIEDE2000 difference of a colorizer.
    var meanDeltaE: Double { deltaE2000 ?? .nan }
}

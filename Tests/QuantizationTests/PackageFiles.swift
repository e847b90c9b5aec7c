import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintQuantization
import RetintTensors

// Quantization from one package file to another, as the command does it.

func quantizePackage(
    at source: String, to target: String, plan: QuantizationPlan, calibration: [TensorData] = []
) throws -> QuantizationReport {
    let (package, report) = try MLPackage(contentsOf: source)
        .quantized(plan, calibration: calibration)
    try package.write(to: target)
    return report
}

func searchQuantization(
    of source: String, to target: String, photos: [TensorData], maximumDeltaE: Double
) throws -> QuantizationSearchReport {
    let (package, report) = try MLPackage(contentsOf: source)
        .searchQuantization(photos: photos, maximumDeltaE: maximumDeltaE)
    try package.write(to: target)
    return report
}

func compareSchemes(
    _ schemes: [QuantizationScheme] = QuantizationScheme.usual, onPackage path: String,
    photos: [TensorData], calibration: [TensorData] = []
) throws -> [QuantizationReport.SchemeResult] {
    try MLPackage(contentsOf: path)
        .compareSchemes(schemes, photos: photos, calibration: calibration)
}

func colorChange(
    from source: String, to target: String, photos: [TensorData]
) throws -> QuantizationReport.ColorChange {
    try MLPackage(contentsOf: source)
        .colorChange(to: MLPackage(contentsOf: target), photos: photos)
}

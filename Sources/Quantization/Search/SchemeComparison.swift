import MLPackage
import TensorGraph

/// What a scheme makes of a package.
public struct SchemeResult: Hashable, Sendable, Encodable {
    public let scheme: String
    /// Of the weights that become smaller; nil where it fails.
    public let bytes: Int?
    public let bytesBefore: Int?
    public let change: ColorChange?
    /// Why nothing comes of it.
    public let failure: String?
}

/// Tries schemes on a package without writing anything.
///
/// - Parameters:
///   - photos: lightness [1, 1, H, W] in 0…100 of the size that the package takes; where colors
///     are compared.
///   - calibration: as ``quantizePackage(at:to:plan:calibration:)`` takes it.
///   - progress: called now and then, with the share of the work that is done.
/// - Returns: one result for each scheme that the package's system has, in their order.
public func compareSchemes(
    _ schemes: [QuantizationScheme] = QuantizationScheme.usual, onPackage path: String,
    photos: [TensorData], calibration: [TensorData] = [],
    progress: (Double) -> Void = { _ in }
) throws -> [SchemeResult] {
    let package = try MLPackage(contentsOf: path)
    let probe = try ColorProbe(package, photos: photos)
    let schemes = schemes.filter { (try? $0.check(package.target)) != nil }
    var steps = schemes.count + (calibration.isEmpty ? 0 : package.weights.count)
    let all = Double(max(steps, 1))
    func step() {
        steps -= 1
        progress(1 - Double(steps) / all)
    }
    let attempts = try quantized(
        package, by: schemes.map { QuantizationPlan($0) },
        Calibration(package, unlessEmpty: calibration), progress: step)
    return try zip(schemes, attempts).map { scheme, attempt in
        defer { step() }
        return try SchemeResult(scheme, attempt, probe)
    }
}

extension SchemeResult {
    fileprivate init(
        _ scheme: QuantizationScheme, _ attempt: Result<QuantizedPackage, any Error>,
        _ probe: ColorProbe
    ) throws {
        self.scheme = "\(scheme)"
        switch attempt {
        case .success(let outcome):
            (bytes, bytesBefore) = (outcome.report.bytesAfter, outcome.report.bytesBefore)
            failure = nil
            change = try probe.change(to: outcome.package)
        case .failure(let error):
            (bytes, bytesBefore, change, failure) = (nil, nil, nil, "\(error)")
        }
    }
}

extension QuantizationScheme {
    /// One for each kind of weights and granularity, from the largest to the smallest.
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

import MLPackage
public import TensorGraph

/// What a scheme makes of a package.
public struct SchemeResult: Hashable, Sendable, Encodable {
    public let scheme: String
    /// Of the weights that become smaller.
    public let bytes: Int
    public let change: ColorChange
}

/// Tries schemes on a package without writing anything.
///
/// - Parameters:
///   - photos: lightness [1, 1, H, W] in 0…100 of the size that the package takes; where colors
///     are compared.
///   - calibration: as ``quantizePackage(at:to:plan:calibration:)`` takes it.
///   - progress: called after each scheme.
/// - Returns: one result for each scheme that the package can have, in their order.
public func compareSchemes(
    _ schemes: [QuantizationScheme] = QuantizationScheme.usual, onPackage path: String,
    photos: [TensorData], calibration: [TensorData] = [],
    progress: (SchemeResult) -> Void = { _ in }
) throws -> [SchemeResult] {
    let package = try MLPackage(contentsOf: path)
    let probe = try ColorProbe(package, photos: photos)
    var results: [SchemeResult] = []
    for scheme in schemes where (try? scheme.check(package.target)) != nil {
        guard
            let (smaller, report) = try? quantized(
                package, QuantizationPlan(scheme), calibration: calibration)
        else { continue }
        let result = SchemeResult(
            scheme: "\(scheme)", bytes: report.bytesAfter, change: try probe.change(to: smaller))
        results.append(result)
        progress(result)
    }
    return results
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

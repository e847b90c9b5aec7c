import ColorScience
import TensorGraph

/// The CIEDE2000 difference of the colors that the model gives from those expected, over all
/// pixels; colors are Lab with the input's lightness, before anything is clamped to sRGB.
package struct ColorDifference: Hashable, Sendable {
    package let mean: Double
    /// What 99 of 100 pixels stay at or below, interpolated between two pixels.
    package let percentile99: Double

    /// Nil unless lightness is [N, 1, H, W] and both colors are [N, 2, H, W] and finite.
    package init?(lightness: TensorData, computed: TensorData, expected: TensorData) throws {
        let shape = lightness.shape
        guard shape.rank == 4, shape[1] == 1, computed.shape == expected.shape,
            expected.shape == [shape[0], 2, shape[2], shape[3]],
            computed.scalars.allSatisfy(\.isFinite)
        else { return nil }
        let first = Self.planes(lightness.scalars, expected)
        let values = try deltaE2000(first, Self.planes(lightness.scalars, computed))
        mean = values.reduce(0) { $0 + Double($1) } / Double(values.count)
        percentile99 = percentile(values, 0.99)
    }

    private static func planes(_ lightness: [Float], _ ab: TensorData) -> LabPlanes {
        let area = ab.shape[2] * ab.shape[3]
        func plane(_ channel: Int) -> [Float] {
            (0..<ab.shape[0]).flatMap { picture in
                let start = (2 * picture + channel) * area
                return ab.scalars[start..<start + area]
            }
        }
        return LabPlanes(l: lightness, a: plane(0), b: plane(1))
    }
}

/// The value below which `share` of all lie, linear between neighbors.
package func percentile(_ values: [Float], _ share: Double) -> Double {
    let sorted = values.sorted()
    let place = share * Double(sorted.count - 1)
    let below = Int(place)
    let above = min(below + 1, sorted.count - 1)
    let fraction = place - Double(below)
    return Double(sorted[below]) * (1 - fraction) + Double(sorted[above]) * fraction
}

import Foundation
package import RetintGraph
package import RetintTensors

/// Deterministic values without repeats or round numbers, in −1…1, or in ½…2 if `positive`.
package func numbers(_ shape: Shape, seed: Int = 1, positive: Bool = false) -> TensorData {
    let scalars = (0..<shape.count).map { index in
        let unit = Float((index * 7919 + seed * 104_729) % 2003) / 2003
        return positive ? 0.5 + 1.5 * unit : 2 * unit - 1
    }
    return TensorData(shape: shape, scalars: scalars)
}

/// The largest absolute difference between two tensors of equal shape.
package func distance(_ first: TensorData?, _ second: TensorData) throws -> Float {
    try pairs(first, second).map { abs($0 - $1) }.max() ?? 0
}

/// The PSNR in dB of colors in −110…110: 10·log₁₀(220²/mean square error).
package func psnr(_ first: TensorData?, _ second: TensorData) throws -> Double {
    let squares = try pairs(first, second).map { Double($0 - $1) * Double($0 - $1) }
    return 10 * log10(220 * 220 / (squares.reduce(0, +) / Double(squares.count)))
}

/// The values of two tensors that must exist and have equal shapes.
private func pairs(
    _ first: TensorData?, _ second: TensorData
) throws -> Zip2Sequence<[Float], [Float]> {
    guard let first, first.shape == second.shape else {
        throw Incomparable(shapes: [first?.shape, second.shape])
    }
    return zip(first.scalars, second.scalars)
}

/// Two tensors that cannot be compared; a shape is nil if there is no tensor.
private struct Incomparable: Error {
    let shapes: [Shape?]
}

import Engine
import Foundation
import MIL
import MLPackage
import TensorGraph
import TestSupport
import Testing

/// Deterministic values without repeats or round numbers, in −1…1, or in ½…2 if `positive`.
func numbers(_ shape: Shape, seed: Int = 1, positive: Bool = false) -> TensorData {
    let scalars = (0..<shape.count).map { index in
        let unit = Float((index * 7919 + seed * 104_729) % 2003) / 2003
        return positive ? 0.5 + 1.5 * unit : 2 * unit - 1
    }
    return TensorData(shape: shape, scalars: scalars)
}

extension RaisedModel {
    /// Runs the graph and returns its outputs by name.
    func run(_ inputs: [String: TensorData]) throws -> [String: TensorData] {
        let program = try Program(outputs: outputs)
        try program.load(variables)
        return try program.run(inputs)
    }
}

/// The largest absolute difference between two tensors of equal shape.
func distance(_ first: TensorData?, _ second: TensorData) throws -> Float {
    let first = try #require(first)
    try #require(first.shape == second.shape)
    return zip(first.scalars, second.scalars).map { abs($0 - $1) }.max() ?? 0
}

/// The PSNR in dB of colors in −110…110: 10·log₁₀(220²/mean square error).
func psnr(_ first: TensorData?, _ second: TensorData) throws -> Double {
    let first = try #require(first)
    try #require(first.shape == second.shape)
    let squares = zip(first.scalars, second.scalars).map { Double($0 - $1) * Double($0 - $1) }
    return 10 * log10(220 * 220 / (squares.reduce(0, +) / Double(squares.count)))
}

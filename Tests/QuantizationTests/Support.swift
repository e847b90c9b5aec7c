import Foundation
import RetintCheckpoints
import RetintEngine
import RetintExport
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintTensors
import RetintTestSupport
import Testing

extension TemporaryFolder {
    /// Exports a small colorizer for images of 32 × 32 pixels.
    func export(
        _ target: ExportOptions.Target, _ precision: ExportOptions.Precision = .float32,
        width: Double = 0.5
    ) throws -> String {
        let checkpoint = try Checkpoint(
            .named("mobile-unet", .init(width: width)), seed: 1)
        try checkpoint.export(
            to: path("float.mlpackage"),
            options: ExportOptions(precision: precision, target: target, size: 32))
        return path("float.mlpackage")
    }
}

/// Varied pseudorandom values in −1…1.
func pseudorandomValues(_ shape: Shape, seed: Int = 1) -> TensorData {
    let scalars = (0..<shape.count).map { index in
        2 * Float((index * 7919 + seed * 104_729) % 2003) / 2003 - 1
    }
    return TensorData(shape: shape, scalars: scalars)
}

/// Smooth lightness [1, 1, size, size] in 0…100 that depends on the seed.
func lightness(_ seed: Int, size: Int = 32) -> TensorData {
    let scalars = (0..<size * size).map { index -> Float in
        let (x, y) = (Float(index % size) / Float(size), Float(index / size) / Float(size))
        let phase = Float(seed)
        return 50 + 30 * sin(5 * x + phase) * cos(3 * y - 2 * phase) + 15 * sin(23 * x * y + phase)
    }
    return TensorData(shape: [1, 1, size, size], scalars: scalars)
}

/// The colors [1, 2, H, W] that a package predicts for lightness.
func colors(
    of path: String, _ input: TensorData = lightness(1)
) throws -> TensorData {
    let raised = try RaisedPackage(try MLPackage(contentsOf: path)).model
    let program = try Program(outputs: raised.outputs)
    try program.load(raised.variables)
    return try #require(try program.run([raised.inputs[0].name: input])["ab"])
}

import Foundation
import RetintArchitectures
import RetintCheckpoints
import RetintGraph
import RetintImages
import RetintLayers
import RetintTensorFiles
import RetintTestSupport
import Testing

extension CommandBench {
    /// A narrow MobileUNet with fresh weights, as a checkpoint.
    package func makeCheckpoint(_ name: String = "model.h5") throws -> String {
        try Checkpoint(.named("mobile-unet"), seed: 1).write(to: path(name))
        return name
    }

    /// `model.h5` of ``makeCheckpoint(_:)``, and `half.mlpackage`, its package in float16.
    package func makeHalfPackage() throws {
        let model = try makeCheckpoint()
        try expect(
            0, "export", model, "-o", "half.mlpackage", "--precision", "float16", "--size", "64")
    }

    /// A network whose colors are strong and differ from frame to frame; those of fresh weights are
    /// almost gray.
    package func makeLivelyCheckpoint(_ name: String = "lively.h5") throws -> String {
        var checkpoint = try Checkpoint(.named("pico-unet"), seed: 1)
        let last = try #require(
            checkpoint.state.map { ($0, $1) }.last { $0.1.shape.rank == 4 })
        let floats = try #require(last.1.floats).map { $0 * 100 }
        checkpoint.state[last.0] = StoredTensor(shape: last.1.shape, floats: floats)
        try checkpoint.write(to: path(name))
        return name
    }

    /// The same weights as a PyTorch state dict, after a change.
    package func makeWeights(
        _ name: String = "weights.h5", change: (inout StateDict) -> Void = { _ in }
    ) throws -> String {
        var state = try Checkpoint(.named("mobile-unet"), seed: 1).state
        change(&state)
        try state.write(to: path(name))
        return name
    }

    /// Weights of an EfficientNet-Lite for photos in color, after a change.
    package func makeFeatures(
        _ name: String, depth: Double = 1, change: (inout StateDict) -> Void = { _ in }
    ) throws {
        let network = PooledEfficientNetLite(width: 1, depth: depth)
        var state = StateDict(initial: StateSpec(of: network), seed: 1)
        change(&state)
        try state.write(to: path(name))
    }

    /// A picture with all sorts of colors.
    package func makePhoto(_ name: String, width: Int = 60, height: Int = 40) throws -> String {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                pixels += [x * 255 / width, y * 255 / height, (7 * x + 3 * y) % 256].map {
                    UInt8($0)
                }
            }
        }
        try Image(width: width, height: height, pixels: pixels).write(to: path(name))
        return name
    }

    package func write(_ data: Data, to name: String) throws -> String {
        try data.write(to: URL(fileURLWithPath: path(name)))
        return name
    }

    package func makeDirectory(_ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: path(name), withIntermediateDirectories: true)
    }

    package func json(_ result: ProcessResult) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        return object as? [String: Any] ?? [:]
    }
}

import Foundation
import RetintCheckpoints
import RetintExport
import RetintGraph
import RetintTensorFiles
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintRuntime
@testable import RetintVerification

/// A seeded network in a file, and an input of 64 × 64.
struct Fixture {
    let scratch: TemporaryFolder
    let checkpoint: Checkpoint
    let path: String
    let lightness = lightnessOf([1, 1, 64, 64])

    init() throws {
        scratch = try TemporaryFolder()
        checkpoint = try Checkpoint(
            .named("mobile-unet", .init(width: 0.25)), seed: 3)
        path = scratch.path("network.h5")
        try checkpoint.write(to: path)
    }

    func model() throws -> Model { try Model(contentsOf: path) }

    func reference() throws -> Reference { try Reference(running: model(), on: lightness) }

    func ab() throws -> TensorData { try reference().outputs[0].data }

    /// Different images, one per run.
    func samples(_ count: Int) -> VerificationInputs { imagesOf(count, lightness.shape) }

    /// All values of the network, by name.
    func values(compute: ComputePrecision = .float32) throws -> [String: TensorData] {
        let inputs = [NamedTensor("L", lightness)]
        let model = try model().program(on: inputs, compute: compute)
        var run = try model.start(inputs)
        var values: [String: TensorData] = [:]
        while let next = run.next() {
            for value in next { values[model.values[value.index].name] = value.data }
        }
        return values
    }

    func package(_ options: ExportOptions, _ name: String = "model") throws -> Model {
        let path = scratch.path(name + ".mlpackage")
        let source = ExportSource(
            checkpoint.network, colorizer: try checkpoint.network.make(),
            variables: checkpoint.variables)
        _ = try source.export(to: path, options: options)
        return try Model(contentsOf: path)
    }

    /// A reference file with tensors by path.
    func write(_ tensors: [(String, TensorData)]) throws -> String {
        let path = scratch.path("reference.h5")
        let writer = try HDF5Writer(path: path)
        for (name, data) in tensors { try writer.write(StoredTensor(data), to: name) }
        try writer.finish()
        return path
    }
}

/// Lightness that varies from pixel to pixel.
func lightnessOf(_ shape: Shape) -> TensorData {
    TensorData(shape: shape, scalars: (0..<shape.count).map { Float($0 * 7919 % 1000) / 10 })
}

/// `count` images of a shape, one per run.
func imagesOf(_ count: Int, _ shape: Shape) -> VerificationInputs {
    VerificationInputs(count: count) { index in
        let scalars = (0..<shape.count).map { Float(($0 + 17 * index) * 7919 % 1000) / 10 }
        return VerificationInputs.Input(
            labels: ["image \(index)"],
            tensors: [NamedTensor("L", TensorData(shape: shape, scalars: scalars))])
    }
}

extension Reference {
    /// The reference with other outputs.
    func with(_ outputs: [NamedTensor]) throws -> Reference {
        try Reference(name: name, inputs: inputs, outputs: outputs)
    }
}

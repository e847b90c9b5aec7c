import Foundation
import RetintMIL
import RetintMLPackage
import RetintNeuralNetwork
import RetintPackageSupport
import RetintTensors
import RetintTestSupport
import Testing

/// What was recorded of a model: tensors with base64 of their elements.
struct Recording: Decodable {
    struct Tensor: Decodable {
        let shape: [Int]
        let values: Data

        var data: TensorData {
            let bytes = [UInt8](values)
            let scalars = stride(from: 0, to: bytes.count, by: 4).map { start in
                Float(
                    bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[start + $1]) << (8 * $1) })
            }
            return TensorData(shape: Shape(shape), scalars: scalars)
        }
    }

    let inputs: [String: Tensor]
    let outputs: [String: Tensor]

    /// Compares what a package computes with the recorded outputs.
    func compare(with package: MLPackage, within bound: Float = 2e-6) throws {
        let inputs = inputs.mapValues(\.data)
        let found = try raise(package, inputShapes: inputs.mapValues(\.shape)).run(inputs)
        #expect(found.count == outputs.count)
        for (name, tensor) in outputs.sorted(by: { $0.key < $1.key }) {
            let expected = tensor.data
            let result = try #require(found[name], "\(name)")
            #expect(result.shape == expected.shape, "\(name)")
            let largest = expected.scalars.map(abs).max() ?? 0
            let error =
                zip(result.scalars, expected.scalars).map { abs($0 - $1) }.max() ?? .infinity
            #expect(error <= bound * max(1, largest), "\(name): \(error)")
        }
    }
}

/// Layers of neural networks against PyTorch, one for each output. `Goldens/record_layers.py`
/// records both.
@Suite struct LayerTests {
    @Test(arguments: [("exact", 207), ("rank5", 100)])
    func equalPyTorch(_ name: String, _ count: Int) throws {
        let recorded: [String: Recording] = try decodeGolden("layers.json")
        let recording = try #require(recorded[name])
        #expect(recording.outputs.count == count)
        let package = try MLPackage(contentsOfMLModel: goldenPath("\(name).mlmodel"))
        try recording.compare(with: package, within: 4e-6)
    }
}

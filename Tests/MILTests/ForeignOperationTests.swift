import RetintMLPackage
import RetintPackageSupport
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintMIL

/// Operations that coremltools writes and retint does not, against PyTorch.
/// `Goldens/record_operations.py` records both.
@Suite struct ForeignOperationTests {
    struct Tensor: Decodable {
        let shape: [Int]
        let values: [Float]

        var data: TensorData { TensorData(shape: Shape(shape), scalars: values) }
    }

    struct Recording: Decodable {
        let inputs: [String: Tensor]
        let outputs: [String: Tensor]
    }

    @Test func equalPyTorch() throws {
        let recorded: Recording = try decodeGolden("operations.json")
        #expect(recorded.outputs.count == 59)
        let package = try MLPackage(contentsOf: goldenPath("operations.mlpackage"))
        let found = try raise(package).run(recorded.inputs.mapValues(\.data))
        for (name, expected) in recorded.outputs.sorted(by: { $0.key < $1.key }) {
            let result = try #require(found[name])
            #expect(result.shape == Shape(expected.shape), "\(name)")
            let largest = expected.values.map(abs).max() ?? 0
            let error = zip(result.scalars, expected.values).map { abs($0 - $1) }.max() ?? .infinity
            #expect(error <= 2e-6 * max(1, largest), "\(name): \(error)")
        }
    }
}

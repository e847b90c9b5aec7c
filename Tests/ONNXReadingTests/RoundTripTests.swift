import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintONNXCases
import RetintONNXWriting
import RetintOperationCases
import RetintPackageSupport
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintONNXReading

/// What is written as ONNX and read again computes the same.
@Suite struct RoundTripTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The outputs of the package's network after a detour through an ONNX file.
    private func outputs(
        of package: MLPackage, opset: Int?, _ inputs: [String: TensorData]
    ) throws -> [String: TensorData] {
        let path = folder.path("net.onnx")
        try ONNXNetwork(package, ONNXOptions(opset: opset)).write(to: path)
        let model = try ONNXModel(contentsOf: path)
        let tensors = inputs.mapValues {
            ONNXTensor(floats: $0.scalars, dimensions: $0.shape.dimensions)
        }
        let results = try ModelRun.outputs(of: model, tensors, .everything)
        return Dictionary(
            uniqueKeysWithValues: zip(model.outputs, results).map { ($0.name, $1.data) })
    }

    @Test(arguments: ProgramCase.all)
    func programOfMIL(_ testCase: ProgramCase) throws {
        let package = try testCase.makePackage()
        let expected = try #require(try raise(package).run(["x": testCase.input])["y"])
        for opset in ONNXOptions.opsets {
            do {
                let output = try outputs(of: package, opset: opset, ["x": testCase.input])["y"]
                #expect(try distance(output, expected) <= 1e-5, "opset \(opset)")
            } catch let error as ConversionError where error.rule.contains("need opset") {
                continue
            }
        }
    }

    @Test(arguments: OperationTable.exported)
    func operationOfTheGraph(_ testCase: OperationCase) throws {
        let built = try BuiltCase(testCase, inputPrefix: "x")
        let package = try package(built.lowered(.float32, .iOS15))
        let output = try outputs(of: package, opset: nil, built.feeds)["y"]
        #expect(try distance(output, built.expected) <= 1e-4)
    }
}

import Foundation
import RetintTestSupport
import Testing

@testable import RetintONNXReading

/// Operations and networks with what ONNX Runtime computes.
@Suite struct RecordedTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func check(_ testCase: RecordedCase) throws {
        let path = folder.path("net.onnx")
        try testCase.model.write(to: URL(filePath: path))
        let model = try ONNXModel(contentsOf: path)
        let inputs = testCase.inputs.mapValues { $0.tensor() }
        for feeding in [ModelRun.Feeding.everything, .nothing] {
            let outputs = try ModelRun.outputs(of: model, inputs, feeding)
            for (info, output) in zip(model.outputs, outputs) {
                let expected = try #require(testCase.outputs[info.name]).tensor(output.type)
                let difference = output.difference(
                    from: expected, relative: testCase.tolerance, absolute: testCase.tolerance)
                #expect(difference == nil, "\(info.name), \(feeding)")
            }
        }
    }

    @Test(arguments: RecordedCase.all("nodes.json"))
    func nodeAgrees(_ testCase: RecordedCase) throws { try check(testCase) }

    @Test(arguments: RecordedCase.all("networks.json"))
    func networkAgrees(_ testCase: RecordedCase) throws { try check(testCase) }
}

import Foundation
import RetintTestSupport
import Testing

@testable import RetintONNXReading

/// ONNX's own tests. `Goldens/refused.json` lists those that are refused, with words of the reason;
/// all others have to pass.
@Suite(.enabled(if: BackendCase.isInstalled, "Scripts/setup installs the tests"))
struct BackendTests {
    /// How much a value may differ of an expected one: ONNX's own runner allows 1e-3 everywhere.
    private static func tolerance(_ name: String, _ type: ONNXElementType) -> Float {
        let isInexact = ["window", "erf", "large_number"].contains { name.contains($0) }
        return isInexact || type == .float16 ? 1e-3 : 1e-4
    }

    @Test(arguments: ["node", "pytorch-converted", "pytorch-operator", "simple"])
    func passesOrRefuses(_ kind: String) throws {
        let refused: [String: String] = try decodeGolden("refused.json")
        let cases = try BackendCase.all(kind)
        var passed = 0
        for testCase in cases {
            let ending = try ending(of: testCase)
            if let words = refused[testCase.name] {
                #expect(ending?.contains(words) ?? false, "\(testCase.name): \(ending ?? "passes")")
            } else {
                #expect(ending == nil, "\(testCase.name): \(ending ?? "")")
                passed += 1
            }
        }
        print("\(kind): \(passed) of \(cases.count) of ONNX's tests pass, the others are refused")
        let named = Set(cases.map(\.name))
        #expect(refused.keys.filter { $0.hasPrefix("\(kind)/") && !named.contains($0) }.isEmpty)
    }

    /// Why a test is refused; nil if it passes. What is wrong is an issue.
    ///
    /// It passes if it does with some of its inputs known beforehand, as shapes are. With more or
    /// less known, it is refused or right.
    private func ending(of testCase: BackendCase) throws -> String? {
        do {
            let model = try testCase.model()
            for set in try testCase.sets() {
                let inputs = try testCase.inputs(set, model)
                let expected = try testCase.outputs(set, model)
                var (refusal, passes): (ONNXError?, Bool) = (nil, false)
                for feeding in [ModelRun.Feeding.floats, .first, .everything, .nothing] {
                    do {
                        try check(model, inputs, expected, feeding, testCase.name)
                        passes = true
                    } catch let error as ONNXError { refusal = refusal ?? error }
                }
                if let refusal, !passes { throw refusal }
            }
            return nil
        } catch let error as ONNXError {
            return error.description
        }
    }

    private func check(
        _ model: ONNXModel, _ inputs: [String: ONNXTensor], _ expected: [ONNXTensor],
        _ feeding: ModelRun.Feeding, _ name: String
    ) throws {
        let outputs = try ModelRun.outputs(of: model, inputs, feeding)
        for (index, (output, wanted)) in zip(outputs, expected).enumerated() {
            let tolerance = Self.tolerance(name, wanted.type)
            let difference = output.difference(from: wanted, relative: tolerance)
            #expect(difference == nil, "\(name), \(feeding), output \(index)")
        }
    }
}

import Foundation
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintONNXCases
import RetintONNXWriting
import RetintPackageSupport

// Writes all cases as ONNX, for each opset that can say them, with input and expected output:
// what the engine makes of the same program. `Scripts/check onnx-export` runs them.
//
//   ONNXCaseWriter DIRECTORY

let folder = CommandLine.arguments[1]
var lines: [[String: Any]] = []
for (number, testCase) in ProgramCase.all.enumerated() {
    let package = try testCase.makePackage()
    let expected = try raise(package).run(["x": testCase.input])["y"]
    for opset in ONNXOptions.opsets {
        let file = "\(number)-\(opset).onnx"
        do {
            try ONNXNetwork(package, ONNXOptions(opset: opset)).write(to: "\(folder)/\(file)")
        } catch let error as ConversionError where error.rule.contains("need opset") {
            continue
        }
        lines.append([
            "name": testCase.name, "opset": opset, "file": file,
            "input": testCase.input.scalars, "input_shape": testCase.input.shape.dimensions,
            "output": expected?.scalars ?? [], "output_shape": expected?.shape.dimensions ?? [],
        ])
    }
}
try JSONSerialization.data(withJSONObject: lines)
    .write(to: URL(fileURLWithPath: "\(folder)/cases.json"))

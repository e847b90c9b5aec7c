import Foundation
import RetintFiles
import RetintMLPackage
import RetintONNXCases
import RetintTestSupport
import Testing

@testable import RetintMIL
@testable import RetintONNXWriting

/// What operations of MIL become.
@Suite struct FormsTests {
    /// Operations of packages that others made. `export` writes other ones in their place.
    private static let foreign: Set = [
        "acos", "asin", "atanh", "band_part", "batch_to_space", "cosh", "cumsum", "depth_to_space",
        "einsum", "fill_like", "flatten2d", "gather_nd", "gru", "l2_norm", "local_response_norm",
        "logical_xor", "lstm", "one_hot", "range_1d", "reduce_log_sum", "reduce_prod", "resample",
        "resize", "rnn", "scaled_dot_product_attention", "scatter", "scatter_nd", "sinh",
        "slice_update", "sliding_windows", "softplus_parametric", "space_to_batch",
        "space_to_depth", "topk",
    ]

    /// All that retint runs can be written, but for those operations, and is among the cases.
    @Test func coversWhatRetintRuns() throws {
        let written = RetintONNXWriting.OperationForms.forms
        var unwritten: Set<String> = []
        for case let form as any MILRaisable.Type in RetintMIL.OperationForms.all {
            for type in form.milTypes where written[type] == nil { unwritten.insert(type) }
        }
        #expect(unwritten == Self.foreign)
        var untried = Set(written.keys).union(RetintONNXWriting.OperationForms.weights.keys)
        for testCase in ProgramCase.all {
            for operation in try testCase.makePackage().program.operations {
                untried.remove(operation.type)
            }
        }
        #expect(untried.isEmpty)
    }

    /// The files are those that ONNX's checker accepted and with which ONNX Runtime computed what
    /// the engine does. `Goldens/record_approved.py` tries that and records their hashes.
    @Test(arguments: ProgramCase.all)
    func isApproved(_ testCase: ProgramCase) throws {
        let approved: [String: [String: String]] = try decodeGolden("approved.json")
        let expected = try #require(approved[testCase.name])
        let folder = try TemporaryFolder()
        let package = try testCase.makePackage()
        for opset in ONNXOptions.opsets {
            let path = folder.path("\(opset).onnx")
            guard let hash = expected["\(opset)"] else {
                #expect(throws: ConversionError.self) {
                    try ONNXNetwork(package, ONNXOptions(opset: opset))
                }
                continue
            }
            try ONNXNetwork(package, ONNXOptions(opset: opset)).write(to: path)
            var content = ContentHash()
            content.update([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
            #expect(String(content.digest.hexadecimal.prefix(16)) == hash, "opset \(opset)")
        }
    }

    /// Without a choice, the opset is 17 or what the weights need.
    @Test(arguments: [
        ("conv", 17), ("gelu", 17), ("affine of scales", 17), ("shift_scale of int4", 21),
        ("shift_scale by block", 21), ("palette before iOS18", 17), ("palette of 4 bits", 21),
        ("sparse", 17),
    ])
    func choosesTheOpset(_ name: String, _ opset: Int) throws {
        let testCase = try #require(ProgramCase.all.first { $0.name == name })
        #expect(try ONNXNetwork(testCase.makePackage()).opset == opset)
    }

    @Test(arguments: [
        ("sparse", "written dense"), ("palettes by inner group", "written dense"),
        ("palette of 4 bits", "take 8"),
    ])
    func saysWhatIsMissing(_ name: String, _ words: String) throws {
        let testCase = try #require(ProgramCase.all.first { $0.name == name })
        let network = try ONNXNetwork(testCase.makePackage(), ONNXOptions(opset: 17))
        #expect(network.notes.count == 1 && network.notes[0].contains(words), "\(network.notes)")
    }

    @Test(arguments: [
        ("shift_scale of int4", 20, "need opset 21, not 20"),
        ("affine of scales", 12, "need opset 13, not 12"), ("conv", 10, "from 11 to 21"),
        ("conv", 22, "from 11 to 21"),
    ])
    func refusesOpsets(_ name: String, _ opset: Int, _ words: String) throws {
        let testCase = try #require(ProgramCase.all.first { $0.name == name })
        let error = try #require(throws: ConversionError.self) {
            try ONNXNetwork(testCase.makePackage(), ONNXOptions(opset: opset))
        }
        #expect(error.description.contains(words) && error.kind == .option, "\(error)")
    }
}

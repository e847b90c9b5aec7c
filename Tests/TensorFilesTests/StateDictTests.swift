import RetintGraph
import RetintTensorFiles
import RetintTensors
import Testing

@Suite struct StateDictTests {
    static let expected: [(name: String, shape: Shape)] = [
        ("model1.0.weight", [4, 1, 3, 3]), ("model1.0.bias", [4]),
        ("model1.2.weight", [4, 4, 3, 3]), ("model1.4.num_batches_tracked", .scalar),
    ]

    @Test func keepsOrder() {
        var dict = StateDict()
        for name in ["c", "a", "b"] { dict[name] = StoredTensor(integer: 1) }
        dict["c"] = StoredTensor(integer: 2)
        dict["a"] = nil
        dict["d"] = nil
        #expect(dict.names == ["c", "b"])
        #expect(dict.map(\.tensor.integers) == [[2], [1]])
        #expect(dict["a"] == nil && dict.count == 2)
    }

    @Test func reportSaysWhatDiffers() throws {
        let dict = try StateDict(contentsOf: golden("flat"))
        var expected = Self.expected
        expected[3].name = "model1.4.running_mean"
        let report = dict.compare(expected: expected)
        #expect(report.missing.map(\.name) == ["model1.0.weight", "model1.4.running_mean"])
        #expect(report.unexpected.map(\.name) == ["model1.4.num_batches_tracked"])
        #expect(report.misshaped.map(\.found) == [[4, 2, 3, 3]])
        #expect(!report.isStrict)
        #expect(
            report.description == """
                of 4 expected tensors 2 missing, 1 mis-shaped; 1 unexpected
                              tensor                        expected      found
                  missing     model1.0.weight               [4, 1, 3, 3]  -
                  missing     model1.4.running_mean         []            -
                  mis-shaped  model1.2.weight               [4, 4, 3, 3]  [4, 2, 3, 3]
                  unexpected  model1.4.num_batches_tracked  -             []
                """)
    }

    /// Whatever a file holds, the report is one that people read.
    @Test func reportIsShort() {
        var dict = StateDict()
        for index in 0..<5000 {
            dict["\(index)." + String(repeating: "x", count: 4000)] = StoredTensor(integer: 1)
        }
        let text = dict.compare(expected: []).description
        #expect(text.utf8.count < 1 << 15)
        #expect(text.contains("0.xxx") && text.contains("and 4992 unexpected more"))
    }

    @Test func reportOfMatch() throws {
        let dict = try StateDict(contentsOf: golden("flat"))
        let report = dict.compare(expected: dict.map { ($0.name, $0.tensor.shape) })
        #expect(report.isStrict && report.description == "all 3 tensors match")
    }

    /// Tensors that do not fit are not read, and the report is the same as if they were.
    @Test func expectingReadsOnlyWhatFits() throws {
        let shapes = Dictionary(uniqueKeysWithValues: Self.expected.map { ($0.name, $0.shape) })
        let dict = try StateDict(
            contentsOf: golden("flat"), limits: TensorFileLimits(totalBytes: 24), expecting: shapes)
        #expect(dict.names == ["model1.0.bias", "model1.4.num_batches_tracked"])
        #expect(dict.unread == ["model1.2.weight": [4, 2, 3, 3]])
        let whole = try StateDict(contentsOf: golden("flat"))
        #expect(dict.compare(expected: Self.expected) == whole.compare(expected: Self.expected))
    }
}

import Foundation
import RetintGraph
import RetintTensorFiles
import RetintTestSupport
import Testing

@Suite struct SafetensorsRefusalTests {
    /// A file of a header, its length and zeros behind it.
    private static func file(
        _ header: String, data: Int = 0, length: UInt64? = nil
    ) -> [UInt8] {
        let text = Array(header.utf8)
        let length = length ?? UInt64(text.count)
        let start = (0..<8).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
        return start + text + [UInt8](repeating: 0, count: data)
    }

    private static func tensor(
        _ name: String = "w", type: String = "\"F32\"", shape: String = "[2]",
        offsets: String = "[0,8]"
    ) -> String {
        "\"\(name)\":{\"dtype\":\(type),\"shape\":\(shape),\"data_offsets\":\(offsets)}"
    }

    struct Case: CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        var kind = TensorFileError.Kind.damaged
        var phrase: String
        var testDescription: String { name }

        init(_ name: String, _ bytes: [UInt8], _ phrase: String) {
            (self.name, self.bytes, self.phrase) = (name, bytes, phrase)
        }

        init(
            _ name: String, _ bytes: [UInt8], _ kind: TensorFileError.Kind, _ phrase: String
        ) {
            self.init(name, bytes, phrase)
            self.kind = kind
        }
    }

    static let lengths = [
        Case("seven bytes", Array(repeating: 1, count: 7), "within the length"),
        Case("length of all bits", file("{}", length: .max), "exceeds the format's 100000000"),
        Case("length over the limit", file("{}", length: 100_000_001), "exceeds the format's"),
        Case("length over the file", file("{}", length: 100_000_000), "does not fit in a file of"),
        Case("length one too many", file("{}", length: 3), "does not fit in a file of 10"),
        Case("length one too few", file("{ }", length: 2), "string in quotes"),
        Case("no header", file(""), "must begin with"),
    ]

    static let texts = [
        Case("blank in front", file(" {}"), "must begin with"),
        Case("list", file("[]"), "must begin with"),
        Case("not closed", file("{"), "string in quotes"),
        Case("two objects", file("{}{}"), "only spaces"),
        Case("line end behind", file("{}\n"), "only spaces"),
        Case("comma at the end", file("{\(tensor()),}", data: 8), "string in quotes"),
        Case("no colon", file("{\"w\" 1}"), "\":\""),
        Case("number as tensor", file("{\"w\":1}"), "\"{\""),
        Case("null as tensor", file("{\"w\":null}"), "\"{\""),
        Case("name not closed", file("{\"w"), "ends within a string"),
        Case(
            "long name", file("{\(tensor(String(repeating: "w", count: 4097)))}", data: 8),
            "more than 4096 bytes"),
        Case("line end in name", file("{\"a\nb\":1}"), "control character"),
        Case("unknown escape", file("{\"\\x\":1}"), "unknown escape"),
        Case("escape at the end", file("{\"\\"), "unknown escape"),
        Case("short escape", file("{\"\\u00"), "four hexadecimal"),
        Case("escape of no digits", file("{\"\\u00g0\":1}"), "four hexadecimal"),
        Case("signed escape", file("{\"\\u+0ff\":1}"), "four hexadecimal"),
        Case("half a pair", file("{\"\\ud83d\":1}"), "four hexadecimal"),
        Case("half a pair and more", file("{\"\\ud83d\\u0041\":1}"), "half a character"),
        Case("second half alone", file("{\"\\ude00\":1}"), "half a character"),
        Case("no UTF-8", [5, 0, 0, 0, 0, 0, 0, 0, 0x7b, 0x22, 0xff, 0x22, 0x7d], "not UTF-8"),
    ]

    static let fields = [
        Case("name twice", file("{\(tensor()),\(tensor(offsets: "[8,16]"))}", data: 16), "twice"),
        Case("name twice, escaped", file("{\(tensor()),\(tensor("\\u0077"))}", data: 8), "twice"),
        Case("no fields", file("{\"w\":{}}"), "needs dtype, shape and two data_offsets"),
        Case("one offset", file("{\(tensor(offsets: "[0]"))}", data: 8), "two data_offsets"),
        Case("three offsets", file("{\(tensor(offsets: "[0,8,8]"))}", data: 8), "over 2 numbers"),
        Case("no list", file("{\(tensor(shape: "2"))}", data: 8), "\"[\""),
        Case(
            "field twice", file("{\"w\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}"),
            "dtype is duplicated"),
        Case("unknown field", file("{\"w\":{\"type\":\"F32\"}}"), "\"type\" is unknown"),
        Case("type as number", file("{\(tensor(type: "32"))}", data: 8), "string in quotes"),
        Case("unknown type", file("{\(tensor(type: "\"F128\""))}", data: 8), .refused, "F128"),
        Case("type in lower case", file("{\(tensor(type: "\"f32\""))}", data: 8), .refused, "f32"),
        Case("negative extent", file("{\(tensor(shape: "[-2]"))}", data: 8), "whole number"),
        Case("fraction", file("{\(tensor(shape: "[2.0]"))}", data: 8), "\"]\""),
        Case("exponent", file("{\(tensor(shape: "[2e0]"))}", data: 8), "\"]\""),
        Case("zero in front", file("{\(tensor(shape: "[02]"))}", data: 8), "whole number"),
        Case("over 64 bits", file("{\(tensor(shape: "[18446744073709551616]"))}"), "whole number"),
        Case("list not closed", file("{\"w\":{\"shape\":[2"), "\"]\""),
        Case("nested list", file("{\(tensor(shape: "[[2]]"))}", data: 8), "whole number"),
        Case(
            "nine extents", file("{\(tensor(shape: "[2,1,1,1,1,1,1,1,1]"))}", data: 8), .refused,
            "9 dimensions"),
        Case("metadata as text", file("{\"__metadata__\":\"x\"}"), "\"{\""),
        Case("metadata of numbers", file("{\"__metadata__\":{\"a\":1}}"), "string in quotes"),
        Case("metadata twice", file("{\"__metadata__\":{},\"__metadata__\":{}}"), "twice"),
        Case("metadata key twice", file("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}"), "twice"),
    ]

    static let layouts = [
        Case("hole at the start", file("{\(tensor(offsets: "[4,12]"))}", data: 12), "leave gaps"),
        Case(
            "hole between",
            file("{\(tensor()),\(tensor("v", offsets: "[9,17]"))}", data: 17), "leave gaps"),
        Case(
            "overlap", file("{\(tensor()),\(tensor("v", offsets: "[4,12]"))}", data: 12),
            "overlap"),
        Case("twice the same", file("{\(tensor()),\(tensor("v"))}", data: 8), "overlap"),
        Case("file too long", file("{\(tensor())}", data: 9), "9 follow the header"),
        Case("file too short", file("{\(tensor())}", data: 7), "7 are left"),
        Case("data without tensors", file("{}", data: 1), "1 follow the header"),
        Case("end before begin", file("{\(tensor(offsets: "[8,0]"))}", data: 8), "do not match"),
        Case("too many bytes", file("{\(tensor(offsets: "[0,12]"))}", data: 12), "the 8 bytes"),
        Case("too few bytes", file("{\(tensor(shape: "[3]"))}", data: 8), "the 12 bytes"),
        Case(
            "offsets of all bits",
            file("{\(tensor(offsets: "[18446744073709551615,18446744073709551615]"))}"),
            "do not match"),
        Case(
            "empty at the end of numbers",
            file(
                "{"
                    + tensor(shape: "[0]", offsets: "[18446744073709551615,18446744073709551615]")
                    + "}"),
            "do not match"),
        Case(
            "size overflows",
            file("{\(tensor(shape: "[4611686018427387905,4]"))}", data: 8), .refused, "too large"),
        Case(
            "bytes overflow",
            file("{\(tensor(shape: "[4611686018427387904]"))}", data: 8), .refused, "too large"),
        Case(
            "overflow beside zero",
            file("{\(tensor(shape: "[4294967296,0,4294967296]", offsets: "[0,0]"))}"), .refused,
            "too large"),
        Case(
            "half a byte",
            file("{\(tensor(type: "\"F4\"", shape: "[3]", offsets: "[0,1]"))}", data: 1),
            "whole bytes"),
    ]

    @Test(arguments: lengths + texts + fields + layouts)
    func refuses(_ test: Case) throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("weights.safetensors")
        try write(test.bytes, to: path)
        let error = try #require(failure { _ = try StateDict(contentsOf: path) })
        #expect(error.kind == test.kind && error.file == path, "\(error)")
        #expect(error.description.contains(test.phrase), "\(error)")
    }

    /// Odd but within the rules, with the names that are read.
    static let accepted: [(bytes: [UInt8], names: [String])] = [
        (file("{}"), []), (file("{}      "), []), (file("{\t\r\n }"), []),
        (file("{\"__metadata__\":{}}"), []),
        (
            file(
                "{ \"w\" : { \"shape\" : [ ] , \"data_offsets\" : [ 0 , 4 ] , "
                    + "\"dtype\" : \"F32\" } }",
                data: 4), ["w"]
        ),
        (file("{\(tensor("b", offsets: "[8,16]")),\(tensor("a"))}", data: 16), ["a", "b"]),
        (
            file(
                "{\(tensor("c", shape: "[0,3]", offsets: "[8,8]")),"
                    + "\(tensor("b", shape: "[0]", offsets: "[8,8]")),\(tensor("a"))}", data: 8),
            ["a", "c", "b"]
        ),
        (file("{\(tensor("\\u00e9\\ud83d\\ude00\\/\\n"))}", data: 8), ["é😀/\n"]),
        (file("{\(tensor(""))}", data: 8), [""]),
    ]

    @Test(arguments: accepted.indices)
    func accepts(_ index: Int) throws {
        let (content, names) = Self.accepted[index]
        let scratch = try TemporaryFolder()
        let path = scratch.path("weights.safetensors")
        try write(content, to: path)
        let dict = try StateDict(contentsOf: path)
        #expect(dict.names == names)
        for (_, tensor) in dict { #expect(tensor.floats?.allSatisfy { $0 == 0 } == true) }
    }

    @Test func limits() throws {
        let path = golden("flat", .safetensors)
        let cases: [(TensorFileLimits, String)] = [
            (TensorFileLimits(totalBytes: 300), "limit of 300 bytes"),
            (TensorFileLimits(objects: 2), "more than 2 tensors"),
            (TensorFileLimits(rank: 2), "the limit is 2"),
        ]
        for (limits, phrase) in cases {
            let error = try #require(
                failure { _ = try StateDict(contentsOf: path, limits: limits) })
            #expect(error.kind == .refused && error.description.contains(phrase), "\(error)")
        }
    }

    /// A file that takes no room on the disk is not read.
    @Test func sparseFile() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("weights.safetensors")
        let count = 5 << 30
        let bytes = Self.tensor(
            type: "\"U8\"", shape: "[\(count)]", offsets: "[0,\(count)]")
        try write(Self.file("{\(bytes)}"), to: path)
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.truncate(atOffset: handle.seekToEnd() + UInt64(count))
        let error = try #require(failure { _ = try StateDict(contentsOf: path) })
        #expect(error.kind == .unreadable && error.description.contains("the rest are holes"))
    }

    @Test func refusesWhatIsNoFile() throws {
        let scratch = try TemporaryFolder()
        #expect(mkfifo(scratch.path("pipe.safetensors"), 0o600) == 0)
        let cases = [
            (scratch.path("pipe.safetensors"), "not a regular file"),
            ("/dev/zero", "not a regular file"), (scratch.path, "is a directory"),
            (scratch.path("none.safetensors"), "No such file"), ("a\0b", "No such file"),
        ]
        for (path, phrase) in cases {
            let error = try #require(failure { _ = try SafetensorsReader(path: path) })
            #expect(error.kind == .unreadable && error.description.contains(phrase))
        }
    }

    @Test func namesThatAreNotThere() throws {
        let reader = try SafetensorsReader(path: golden("flat", .safetensors))
        #expect(failure { _ = try reader.read("model1") }?.kind == .notFound)
        #expect(failure { _ = try reader.shape(of: "") }?.kind == .notFound)
        let error = failure { _ = try reader.read("model1.0.bias", expecting: [5]) }
        #expect(error?.kind == .mismatch)
    }

    @Test func formatsAreNotMixedUp() throws {
        let path = golden("flat", .safetensors)
        let error = try #require(failure { _ = try HDF5Reader(path: path) })
        #expect(error.kind == .otherFormat && error.description.contains("retint import"))
        let other = failure { _ = try SafetensorsReader(path: golden("flat")) }
        #expect(other?.description.contains("exceeds the format's") == true)
    }
}

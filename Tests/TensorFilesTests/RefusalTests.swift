import Foundation
import RetintGraph
import RetintTensorFiles
import RetintTestSupport
import Testing

@Suite struct RefusalTests {
    struct Case: CustomTestStringConvertible {
        let file: String
        let kind: TensorFileError.Kind
        let phrase: String
        var testDescription: String { file }
    }

    static let cases = [
        Case(file: "keras", kind: .otherFormat, phrase: "Keras"),
        Case(file: "external-link", kind: .refused, phrase: "external link"),
        Case(file: "soft-link", kind: .refused, phrase: "soft link"),
        Case(file: "external-storage", kind: .refused, phrase: "stored in another file"),
        Case(file: "virtual", kind: .refused, phrase: "view of other datasets"),
        Case(file: "rank-9", kind: .refused, phrase: "9 dimensions"),
        Case(file: "huge", kind: .damaged, phrase: "declares 17179869184 bytes"),
        Case(file: "sparse", kind: .damaged, phrase: "declares 268435456 bytes"),
        Case(file: "tiny-chunks", kind: .refused, phrase: "16384 chunks"),
        Case(file: "overflow", kind: .refused, phrase: "too large"),
        Case(file: "cycle", kind: .refused, phrase: "is linked twice"),
        Case(file: "compound", kind: .refused, phrase: "compound"),
        Case(file: "strings", kind: .refused, phrase: "strings"),
        Case(file: "booleans", kind: .refused, phrase: "booleans"),
        Case(file: "filter", kind: .refused, phrase: "filter 32000"),
        Case(file: "unwritten", kind: .damaged, phrase: "contains 0"),
        Case(file: "twice", kind: .damaged, phrase: "twice"),
        Case(file: "named-type", kind: .refused, phrase: "neither a group nor a dataset"),
        Case(file: "null", kind: .refused, phrase: "without a shape"),
    ]

    @Test(arguments: cases)
    func refuses(_ test: Case) throws {
        let error = try #require(failure { _ = try StateDict(contentsOf: golden(test.file)) })
        #expect(error.kind == test.kind)
        #expect(error.description.contains(test.phrase), "\(error)")
        #expect(error.file == golden(test.file))
    }

    @Test(arguments: ["external-link", "soft-link", "external-storage", "virtual"])
    func refusesByName(file: String) throws {
        let reader = try HDF5Reader(path: golden(file))
        let error = try #require(failure { _ = try reader.read("weight") })
        #expect(error.kind == .refused && error.place == "\"weight\"")
    }

    @Test func refusesWhatIsNoHDF5() throws {
        let scratch = try TemporaryFolder()
        let contents: [(name: String, bytes: [UInt8], phrase: String)] = [
            ("empty", [], "is empty"), ("text", Array("weights".utf8), "is not an HDF5, a"),
            ("torch.pth", [0x50, 0x4b, 3, 4, 0, 0, 0, 0], "is a PyTorch file, but"),
        ]
        for (name, bytes, phrase) in contents {
            let path = scratch.path(name)
            try write(bytes, to: path)
            let error = try #require(failure { _ = try HDF5Reader(path: path) })
            #expect(error.kind == .otherFormat && error.description.contains(phrase))
        }
    }

    @Test func refusesPathsWithoutFile() throws {
        let cases = [
            ("/nowhere/w.h5", "No such file"), ("/", "is a directory"), ("", "No such"),
            ("/dev/null", "not a regular file"),
        ]
        for (path, phrase) in cases {
            let error = try #require(failure { _ = try StateDict(contentsOf: path) })
            #expect(error.kind == .unreadable && error.description.contains(phrase), "\(error)")
        }
    }

    @Test func limits() throws {
        let cases: [(limits: TensorFileLimits, file: String, phrase: String)] = [
            (TensorFileLimits(totalBytes: 300), "flat", "limit of 300 bytes"),
            (TensorFileLimits(objects: 3), "nested", "more than"),
            (TensorFileLimits(depth: 1), "nested", "over 1 deep"),
            (TensorFileLimits(rank: 2), "flat", "at most 2"),
            (TensorFileLimits(chunkBytes: 64), "chunked", "chunks of over 64"),
            (TensorFileLimits(chunks: 4), "chunked", "over 4 chunks"),
        ]
        for (limits, file, phrase) in cases {
            let error = try #require(
                failure { _ = try StateDict(contentsOf: golden(file), limits: limits) })
            #expect(error.kind == .refused && error.description.contains(phrase), "\(error)")
        }
    }

    @Test func namesThatAreNotThere() throws {
        let reader = try HDF5Reader(path: golden("nested"))
        for name in ["nothing", "model1/0/weight/x", "model1", ".", "..", "model1/./0", "a\0b", ""]
        {
            let error = try #require(failure { _ = try reader.read(name) }, "\(name)")
            #expect(error.kind == .notFound)
        }
        let error = failure { _ = try reader.read("out.bias", expecting: [4]) }
        #expect(error?.kind == .mismatch)
    }
}

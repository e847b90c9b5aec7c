import Foundation
import RetintGraph
import RetintTensorFiles
import RetintTensors
import RetintTestSupport
import Testing

@Suite struct WritingTests {
    static let dict: StateDict = {
        var dict = StateDict()
        dict["model2.0.weight"] = StoredTensor(shape: [2, 3], floats: ramp(6))
        dict["model1.0.weight"] = StoredTensor(
            shape: [4], floats: [-1.5, 0, 65504, 0x1p-24], storedType: .float16)
        dict["model1.1.num_batches_tracked"] = StoredTensor(integer: .max)
        dict["steps"] = StoredTensor(shape: [2], integers: [-1, 1])
        dict["scale"] = StoredTensor(TensorData(scalar: 0.5), storedType: .float64)
        dict["none"] = StoredTensor(shape: [0], floats: [])
        return dict
    }()

    @Test func stateDictRoundTrip() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("weights.h5")
        try Self.dict.write(to: path)
        let read = try StateDict(contentsOf: path)
        #expect(read == Self.dict)
        #expect(read.names == Self.dict.names)
    }

    @Test func sameBytesEachTime() throws {
        let scratch = try TemporaryFolder()
        try Self.tree(at: scratch.path("a.h5"))
        Thread.sleep(forTimeInterval: 1.1)
        try Self.tree(at: scratch.path("b.h5"))
        #expect(try bytes(of: scratch.path("a.h5")) == bytes(of: scratch.path("b.h5")))
    }

    @Test func treeRoundTrip() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("tree.h5")
        try Self.tree(at: path)
        let reader = try HDF5Reader(path: path)
        #expect(try reader.datasetNames() == ["weights/b.weight", "weights/a.weight"])
        #expect(try reader.read("weights/a.weight").floats == ramp(3))
        #expect(reader.contains("empty"))
        #expect(
            try reader.attributes() == [
                "architecture": .string("eccv16"), "text": .string(Self.longText),
                "step": .integer(7),
            ])
        #expect(
            try reader.attributes(of: "weights") == [
                "rate": .double(0.1), "size": .integers([1, -2]),
                "many": .integers(Array(0..<20_000)),
                "names": .strings(["é", ""]), "no": .integers([]),
            ])
    }

    private static let longText = String(repeating: "{\"layer\": 1}", count: 20_000)

    private static func tree(at path: String) throws {
        let writer = try HDF5Writer(path: path)
        try writer.setAttribute("architecture", to: .string("eccv16"))
        try writer.setAttribute("text", to: .string(longText))
        try writer.setAttribute("step", to: .integer(6))
        try writer.setAttribute("step", to: .integer(7))
        try writer.createGroup("empty")
        for name in ["b", "a"] {
            try writer.write(
                StoredTensor(shape: [3], floats: ramp(3)), to: "weights/\(name).weight")
        }
        try writer.setAttribute("rate", to: .double(0.1), of: "weights")
        try writer.setAttribute("size", to: .integers([1, -2]), of: "weights")
        try writer.setAttribute("many", to: .integers(Array(0..<20_000)), of: "weights")
        try writer.setAttribute("names", to: .strings(["é", ""]), of: "weights")
        try writer.setAttribute("no", to: .integers([]), of: "weights")
        try writer.finish()
    }

    @Test func nothingStandsUntilFinished() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("weights.h5")
        try write([1, 2, 3], to: path)
        do {
            let writer = try HDF5Writer(path: path)
            try writer.write(StoredTensor(integer: 1), to: "a")
            #expect(throws: TensorFileError.self) {
                try writer.write(StoredTensor(integer: 2), to: "a")
            }
            #expect(throws: TensorFileError.self) { try writer.finish() }
        }
        #expect(try bytes(of: path) == [1, 2, 3])
        #expect(try scratch.names() == ["weights.h5"])
    }

    @Test func replacesFileBehindLinkAndKeepsItsMode() throws {
        let scratch = try TemporaryFolder()
        let files = FileManager.default
        try write([1], to: scratch.path("real.h5"))
        try files.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: scratch.path("real.h5"))
        try files.createSymbolicLink(
            atPath: scratch.path("link.h5"), withDestinationPath: "real.h5")
        try Self.dict.write(to: scratch.path("link.h5"))
        #expect(try StateDict(contentsOf: scratch.path("real.h5")).count == 6)
        let mode = try files.attributesOfItem(atPath: scratch.path("real.h5"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(try scratch.names().count == 2)
    }

    @Test func badNamesAndPlaces() throws {
        let scratch = try TemporaryFolder()
        for path in [scratch.path("no/such/w.h5"), scratch.path, "/proc/w.h5"] {
            let error = try #require(failure { _ = try HDF5Writer(path: path) })
            #expect(error.kind == .unwritable && error.file == path)
        }
        for name in ["", "/a", "a//b", ".", "a/../b", "a\0b"] {
            let writer = try HDF5Writer(path: scratch.path("w.h5"))
            let error = failure { try writer.write(StoredTensor(integer: 1), to: name) }
            #expect(error?.kind == .unwritable, "\(name)")
        }
        #expect(try scratch.names().isEmpty)
    }
}

import Foundation
import RetintGraph
import RetintTensorFiles
import RetintTestSupport
import Testing

@Suite struct SafetensorsWritingTests {
    /// The same tensors give the bytes that the safetensors package wrote.
    @Test(arguments: ["flat", "types", "names", "empty"])
    func writesAsTheReference(file: String) throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("weights.safetensors")
        var dict = StateDict()
        let tensors = try StateDict(contentsOf: golden(file, .safetensors)).map { ($0, $1) }
        for (name, tensor) in tensors.reversed() { dict[name] = tensor }
        try dict.write(to: path)
        #expect(try bytes(of: path) == bytes(of: golden(file, .safetensors)))
    }

    @Test func roundTrip() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("weights.safetensors")
        let dict = WritingTests.dict
        try dict.write(to: path)
        let read = try StateDict(contentsOf: path)
        #expect(Set(read.names) == Set(dict.names))
        for (name, tensor) in dict { #expect(read[name] == tensor, "\(name)") }
    }

    /// float32 keeps its bits, NaNs' among them; bfloat16 is rounded to even.
    @Test func bits() throws {
        let patterns: [UInt32] = [0x7fc0_0001, 0xffc1_2345, 0x7f80_0001, 0x8000_0000, 1]
        let halves: [Float] = [
            1, 1 + 0x1p-8, 1 + 0x1.8p-7, .nan, .infinity, -.greatestFiniteMagnitude,
        ]
        var dict = StateDict()
        dict["bits"] = StoredTensor(
            shape: [5], floats: patterns.map { Float(bitPattern: $0) })
        dict["brain"] = StoredTensor(shape: [6], floats: halves, storedType: .bfloat16)
        let scratch = try TemporaryFolder()
        let path = scratch.path("weights.safetensors")
        try dict.write(to: path)
        let read = try StateDict(contentsOf: path)
        #expect(read["bits"]?.floats?.map(\.bitPattern) == patterns)
        let brain = try #require(read["brain"]?.floats)
        #expect(brain[0] == 1 && brain[1] == 1 && brain[2] == 1 + 0x1p-6)
        #expect(brain[3].isNaN && brain[4] == .infinity && brain[5] == -.infinity)
    }

    @Test func replacesOnlyWhenWhole() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("weights.safetensors")
        try write([1, 2, 3], to: path)
        var dict = WritingTests.dict
        dict["__metadata__"] = StoredTensor(integer: 1)
        let error = try #require(failure { try dict.write(to: path) })
        #expect(error.kind == .unwritable && error.place == "\"__metadata__\"")
        #expect(try bytes(of: path) == [1, 2, 3])
        dict["__metadata__"] = nil
        try dict.write(to: path)
        #expect(try StateDict(contentsOf: path).count == dict.count)
        let names = try scratch.names()
        #expect(names == ["weights.safetensors"])
    }

    @Test func badPlaces() throws {
        for path in ["/no/such/w.safetensors", "/proc/w.safetensors"] {
            let error = try #require(failure { try WritingTests.dict.write(to: path) })
            #expect(error.kind == .unwritable && error.file == path)
        }
    }
}

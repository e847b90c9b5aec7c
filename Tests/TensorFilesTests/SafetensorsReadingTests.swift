import Foundation
import RetintGraph
import RetintTensorFiles
import RetintTestSupport
import Testing

@Suite struct SafetensorsReadingTests {
    @Test func readsAsHDF5Does() throws {
        let dict = try StateDict(contentsOf: golden("flat", .safetensors))
        let other = try StateDict(contentsOf: golden("flat"))
        #expect(Set(dict.names) == Set(other.names))
        for (name, tensor) in other { #expect(dict[name] == tensor, "\(name)") }
    }

    @Test func numberTypes() throws {
        let reader = try SafetensorsReader(path: golden("types", .safetensors))
        let floats: [(String, StoredType)] = [
            ("F16", .float16), ("BF16", .bfloat16), ("F32", .float32), ("F64", .float64),
        ]
        for (name, type) in floats {
            let tensor = try reader.read(name)
            #expect(tensor.floats == ramp(6) && tensor.storedType == type, "\(name)")
            #expect(tensor.shape == [2, 3])
        }
        let signed: [StoredType] = [.int8, .int16, .int32, .int64]
        let unsigned: [StoredType] = [.uint8, .uint16, .uint32, .uint64]
        for (types, letter, values) in [
            (signed, "I", [-3, -2, -1, 0, 1, 2] as [Int64]), (unsigned, "U", [3, 2, 1, 0, 1, 2]),
        ] {
            for type in types {
                let tensor = try reader.read("\(letter)\(8 * type.byteCount)")
                #expect(tensor.integers == values && tensor.storedType == type)
            }
        }
        #expect(try reader.read("I64.extreme").integers == [.min, .max])
        #expect(try reader.read("none") == StoredTensor(shape: [0, 3], floats: []))
        #expect(try reader.read("scalar") == StoredTensor(shape: .scalar, floats: [0.25]))
    }

    @Test func specialNumbers() throws {
        let reader = try SafetensorsReader(path: golden("types", .safetensors))
        let halfs = try #require(try reader.read("F16.special").floats)
        #expect(
            halfs.dropLast().map(\.bitPattern) == [
                0, 0x8000_0000, 0x3380_0000, 0xb87f_c000, 0x3f80_0000, 0x477f_e000, 0x7f80_0000,
                0xff80_0000,
            ])
        let brains = try #require(try reader.read("BF16.special").floats)
        #expect(
            brains.dropLast().map(\.bitPattern) == [
                0, 0x8000_0000, 0x0001_0000, 0x3f80_0000, 0x7f7f_0000, 0x7f80_0000, 0xff80_0000,
            ])
        #expect(halfs.last!.isNaN && brains.last!.isNaN)
    }

    @Test func namesMayHoldAnything() throws {
        let dict = try StateDict(contentsOf: golden("names", .safetensors))
        #expect(
            Set(dict.names) == [
                "quote\"back\\slash/", "tab\tline\nfeed\rback\u{8}form\u{c}", "bell\u{7}\u{1f}",
                "é 😀",
            ])
    }

    @Test func metadata() throws {
        let paths = ["flat", "empty", "plain"].map { golden($0, .safetensors) }
        let metadata = try paths.map { try SafetensorsReader(path: $0).metadata }
        #expect(metadata == [["format": "pt"], ["format": "pt"], [:]])
        #expect(try StateDict(contentsOf: paths[1]).isEmpty)
    }

    /// Types that no weight has are refused when they are asked for, and do not keep others from
    /// being read.
    @Test func otherTypes() throws {
        let path = golden("others", .safetensors)
        let reader = try SafetensorsReader(path: path)
        for (name, type) in [("flags", "BOOL"), ("eighths", "F8_E4M3"), ("complex", "C64")] {
            let error = try #require(failure { _ = try reader.read(name) })
            #expect(error.kind == .refused && error.description.contains("contains \(type)"))
            #expect(error.place == "\"\(name)\"")
        }
        #expect(failure { _ = try StateDict(contentsOf: path) }?.kind == .refused)
        let dict = try StateDict(contentsOf: path, expecting: ["weight": [6]])
        #expect(dict.names == ["weight"] && dict["weight"]?.floats == ramp(6))
        #expect(dict.unread == ["flags": [2], "eighths": [4], "complex": [2]])
    }

    @Test func expectingReadsOnlyWhatFits() throws {
        let expected = StateDictTests.expected
        let shapes = Dictionary(uniqueKeysWithValues: expected.map { ($0.name, $0.shape) })
        let path = golden("flat", .safetensors)
        let dict = try StateDict(
            contentsOf: path, limits: TensorFileLimits(totalBytes: 24), expecting: shapes)
        #expect(dict.unread == ["model1.2.weight": [4, 2, 3, 3]])
        let whole = try StateDict(contentsOf: path)
        #expect(dict.compare(expected: expected) == whole.compare(expected: expected))
        let hdf5 = try StateDict(contentsOf: golden("flat"))
        #expect(dict.compare(expected: expected) == hdf5.compare(expected: expected))
    }

    /// What a file is is told by its content, not by its name.
    @Test(arguments: TensorFileFormat.allCases)
    func formatByContent(_ format: TensorFileFormat) throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("weights.\(format == .hdf5 ? "safetensors" : "h5")")
        try write(bytes(of: golden("flat", format)), to: path)
        #expect(try TensorFileFormat(ofFileAt: path) == format)
        #expect(try StateDict(contentsOf: path).count == 3)
    }

    @Test func formatByName() {
        let formats = [
            "a.h5", "A.HDF5", "a.b.safetensors", "a.PTH", "a.pt", "a.mlpackage", "safetensors",
        ].map {
            TensorFileFormat(extensionOf: $0)
        }
        #expect(formats == [.hdf5, .hdf5, .safetensors, .pytorch, .pytorch, nil, nil])
    }

    @Test func oneFileForManyThreads() async throws {
        let reader = try SafetensorsReader(path: golden("flat", .safetensors))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<32 {
                group.addTask { try reader.read("model1.2.weight").floats == ramp(72) }
            }
            for try await isEqual in group { #expect(isEqual) }
        }
    }
}

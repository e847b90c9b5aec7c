import RetintGraph
import RetintTensorFiles
import RetintTensors
import Testing

@Suite struct ReadingTests {
    @Test func flatFileKeepsItsOrder() throws {
        let dict = try StateDict(contentsOf: golden("flat"))
        #expect(dict.names == ["model1.2.weight", "model1.0.bias", "model1.4.num_batches_tracked"])
        #expect(dict["model1.2.weight"]?.shape == [4, 2, 3, 3])
        #expect(dict["model1.2.weight"]?.floats == ramp(72))
        #expect(dict["model1.0.bias"]?.tensorData == TensorData(shape: [4], scalars: ramp(4)))
        #expect(dict["model1.4.num_batches_tracked"] == StoredTensor(integer: 1234))
    }

    @Test func nestedGroupsJoinByDots() throws {
        let dict = try StateDict(contentsOf: golden("nested"))
        #expect(dict.names == ["model1.0.bias", "model1.0.weight", "out.bias"])
        #expect(dict["model1.0.weight"]?.floats == ramp(6))
    }

    @Test(arguments: ["little", "big"])
    func numberTypes(order: String) throws {
        let dict = try StateDict(contentsOf: golden("types"))
        let floats: [(String, StoredType)] = [
            ("f2", .float16), ("f4", .float32), ("f8", .float64),
        ]
        for (name, type) in floats {
            #expect(dict["\(name).\(order)"]?.floats == ramp(6), "\(name)")
            #expect(dict["\(name).\(order)"]?.storedType == type)
        }
        let signed: [StoredType] = [.int8, .int16, .int32, .int64]
        let unsigned: [StoredType] = [.uint8, .uint16, .uint32, .uint64]
        for (types, letter, values) in [
            (signed, "i", [-3, -2, -1, 0, 1, 2] as [Int64]),
            (unsigned, "u", [3, 2, 1, 0, 1, 2]),
        ] {
            for type in types {
                let tensor = try #require(dict["\(letter)\(type.byteCount).\(order)"])
                #expect(tensor.integers == values, "\(type)")
                #expect(tensor.storedType == type)
                #expect(tensor.floats == nil && tensor.tensorData == nil)
            }
        }
    }

    @Test func specialHalves() throws {
        let reader = try HDF5Reader(path: golden("types"))
        let values = try #require(try reader.read("half.special").floats)
        #expect(
            values.dropLast().map(\.bitPattern) == [
                0, 0x8000_0000, 0x3380_0000, 0xb87f_c000, 0x3f80_0000, 0x477f_e000, 0x7f80_0000,
                0xff80_0000,
            ])
        #expect(values.last!.isNaN)
        #expect(try reader.read("none") == StoredTensor(shape: [0, 3], floats: []))
    }

    @Test(arguments: ["plain", "gzip", "shuffled", "checked"])
    func chunks(name: String) throws {
        let tensor = try HDF5Reader(path: golden("chunked")).read(name)
        #expect(tensor.shape == [7, 5, 9])
        #expect(tensor.floats == ramp(315))
    }

    @Test func oddChunks() throws {
        let reader = try HDF5Reader(path: golden("chunked"))
        #expect(try reader.read("odd").integers == [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
        #expect(try reader.read("half").floats == ramp(40))
        #expect(try reader.read("resizable").floats == ramp(6))
    }

    @Test(arguments: ["contiguous", "chunked", "compact"])
    func behindUserBlock(name: String) throws {
        let tensor = try HDF5Reader(path: golden("user-block")).read(name)
        #expect(tensor.shape == [7, 5])
        #expect(tensor.floats == ramp(35))
    }

    @Test func treeOfReferenceFile() throws {
        let reader = try HDF5Reader(path: golden("reference"))
        #expect(
            try reader.datasetNames() == [
                "activations/model1.0", "inputs/input", "outputs/output",
            ])
        #expect(try reader.datasetNames(under: "outputs") == ["output"])
        #expect(try reader.read("outputs/output").floats == ramp(8))
        #expect(try reader.shape(of: "/inputs/input") == [1, 1, 2, 2])
        #expect(reader.contains("activations") && !reader.contains("activations/model2"))
    }

    @Test func attributes() throws {
        let attributes = try HDF5Reader(path: golden("reference")).attributes()
        #expect(
            attributes == [
                "torch": .string("2.x é"), "varying": .unsupported, "seed": .integer(7),
                "tolerance": .double(0.25),
                "size": .integers([1, 1, 2, 2]), "names": .strings(["a", "bc"]),
                "flag": .unsupported,
            ])
    }

    @Test func threadsTakeTurns() async throws {
        let reader = try HDF5Reader(path: golden("chunked"))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<32 {
                group.addTask { try reader.read("gzip").floats == ramp(315) }
            }
            for try await isEqual in group { #expect(isEqual) }
        }
    }
}

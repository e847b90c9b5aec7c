import RetintGraph
import RetintTensorFiles
import RetintTestSupport
import Testing

/// Files that `Goldens/record_pytorch.py` wrote with torch.save.
@Suite struct PyTorchReadingTests {
    static let layouts = ["types", "strided"].flatMap { [($0, $0), ("\($0)-legacy", $0)] }
    static let networks = [
        "nested-twice", "no-checksums", "protocol-3", "protocol-4", "protocol-5",
        "protocol-3-legacy", "protocol-4-legacy", "protocol-5-legacy",
    ].map { ($0, "nested") }

    /// Shapes, types, and every bit of every element.
    @Test(
        arguments: layouts + networks + [("nested", "nested"), ("big-endian", "big-endian")])
    func equalsWhatTorchHolds(file: String, expected: String) throws {
        let reader = try PyTorchReader(path: golden(file, .pytorch))
        let torch = try SafetensorsReader(path: golden("\(expected)-expected", .safetensors))
        #expect(try Set(reader.tensorNames()) == Set(torch.tensorNames()))
        for name in try torch.tensorNames() {
            let (tensor, other) = (try reader.read(name), try torch.read(name))
            #expect(tensor.shape == other.shape && tensor.storedType == other.storedType)
            #expect(
                tensor.floats?.map(\.bitPattern) == other.floats?.map(\.bitPattern), "\(name)")
            #expect(tensor.integers == other.integers, "\(name)")
        }
    }

    @Test(arguments: ["flat", "flat-legacy"])
    func readsAsHDF5Does(file: String) throws {
        let dict = try StateDict(contentsOf: golden(file, .pytorch))
        let other = try StateDict(contentsOf: golden("flat"))
        #expect(Set(dict.names) == Set(other.names))
        for (name, tensor) in other { #expect(dict[name] == tensor, "\(name)") }
    }

    @Test func namesAreInTheOrderOfTheFile() throws {
        let reader = try PyTorchReader(path: golden("flat", .pytorch))
        #expect(
            try reader.tensorNames() == [
                "model1.2.weight", "model1.0.bias", "model1.4.num_batches_tracked",
            ])
        #expect(try reader.storedType(of: "model1.4.num_batches_tracked") == .int64)
        #expect(try reader.shape(of: "model1.2.weight") == [4, 2, 3, 3])
        #expect(reader.format == .pytorch)
    }

    @Test func keys() throws {
        let path = golden("several", .pytorch)
        let dict = try StateDict(contentsOf: path, expecting: nil, key: "params_ema")
        #expect(dict.names == ["w", "v"] && dict["w"]?.floats == ramp(3).map { $0 + 1 })
        let error = try #require(failure { _ = try StateDict(contentsOf: path) })
        #expect(error.kind == .notFound)
        #expect(
            error.description.contains("\"params\" (1 tensors), \"params_ema\" (2 tensors)"))
        let wrong = failure { _ = try PyTorchReader(path: path, key: "ema") }
        #expect(wrong?.description.contains("no tensors under the key \"ema\": \"params\"") == true)
        #expect(try StateDict(contentsOf: golden("other-key", .pytorch)).names == ["w"])
        // One dictionary under two keys.
        for key in [nil, "params", "params_ema"] {
            let path = golden("same-twice", .pytorch)
            #expect(try StateDict(contentsOf: path, expecting: nil, key: key).names == ["w", "v"])
        }
        // A prefix of names in one dictionary.
        let parts = golden("prefixes", .pytorch)
        let average = try StateDict(contentsOf: parts, expecting: nil, key: "model_ema")
        #expect(average.names == ["w", "v"] && average["w"]?.floats == ramp(3).map { $0 + 1 })
        #expect(failure { _ = try PyTorchReader(path: parts, key: "model_e") } != nil)
        let nested = try PyTorchReader(path: golden("nested-twice", .pytorch), key: "model.weights")
        #expect(try nested.tensorNames().contains("0.weight"))
        for format in [TensorFileFormat.hdf5, .safetensors] {
            let error = failure { _ = try openTensorFile(golden("flat", format), key: "model") }
            #expect(error?.description.contains("have no key") == true)
        }
    }

    /// Types that no weight has do not keep others from being read.
    @Test func otherTypes() throws {
        let path = golden("others", .pytorch)
        let reader = try PyTorchReader(path: path)
        let types = [("flags", "bool"), ("eighths", "float8_e4m3fn"), ("complex", "complex64")]
        for (name, type) in types {
            let error = try #require(failure { _ = try reader.read(name) })
            #expect(error.kind == .refused && error.description.contains("contains \(type)"))
        }
        let dict = try StateDict(contentsOf: path, expecting: ["weight": [6]])
        #expect(dict["weight"]?.floats == ramp(6))
        #expect(dict.unread == ["flags": [2], "eighths": [4], "complex": [2]])
    }

    @Test func namesThatAreNotThere() throws {
        let reader = try PyTorchReader(path: golden("flat", .pytorch))
        #expect(failure { _ = try reader.read("model1") }?.kind == .notFound)
        let error = failure { _ = try reader.read("model1.0.bias", expecting: [5]) }
        #expect(error?.kind == .mismatch)
    }

    @Test func isNotWritten() throws {
        let scratch = try TemporaryFolder()
        let error = failure { try StateDict().write(to: scratch.path("weights.pth")) }
        #expect(error?.kind == .unwritable)
        #expect(try scratch.names().isEmpty)
        let other = failure { _ = try HDF5Reader(path: golden("flat", .pytorch)) }
        #expect(other?.description.contains("is a PyTorch file, but an HDF5 file") == true)
    }

    /// A view of a storage takes as much of the limits as is read for it.
    @Test(arguments: [
        ("flat", TensorFileLimits(totalBytes: 300), "limit of 300 bytes"),
        ("strided", TensorFileLimits(totalBytes: 500), "limit of 500 bytes"),
        ("flat", TensorFileLimits(objects: 2), "the limit is 2"),
        ("flat-legacy", TensorFileLimits(objects: 2), "more objects than 2 tensors need"),
        ("flat", TensorFileLimits(rank: 2), "the limit is 2"),
        ("nested", TensorFileLimits(depth: 2), "more than 2 deep"),
    ])
    func limits(file: String, limits: TensorFileLimits, phrase: String) throws {
        let error = try #require(
            failure { _ = try StateDict(contentsOf: golden(file, .pytorch), limits: limits) })
        #expect(error.kind == .refused && error.description.contains(phrase), "\(error)")
    }

    /// What Python 2 wrote: short texts, and an OrderedDict that is made of pairs.
    @Test func python2() throws {
        let name = Array("U".utf8) + [1] + Array("w".utf8)
        let pair = Array("](".utf8) + name + Pickle.tensor() + Array("e".utf8)
        let pairs = Array("](".utf8) + pair + Array("e".utf8)
        let pickle = Pickle.whole(Pickle.call(Pickle.global("collections", "OrderedDict"), pairs))
        let scratch = try TemporaryFolder()
        try write(PyTorchFile.stream(pickle), to: scratch.path("weights.pth"))
        let dict = try StateDict(contentsOf: scratch.path("weights.pth"))
        #expect(dict["w"] == StoredTensor(shape: [2, 2], floats: [0, 0, 0, 0]))
    }

    /// Prefixes that all names have, in any order and number, but only those.
    @Test(arguments: [
        (["module._orig_mod.module.a.b", "module._orig_mod.module.c"], ["a.b", "c"]),
        (["module.a", "module.module.b"], ["a", "module.b"]), (["modular.a"], ["modular.a"]),
        (["module.a", "b"], ["module.a", "b"]),
        ([String(repeating: "module.", count: 200_000) + "w"], ["w"]),
    ])
    func wrappersAreRemoved(names: [String], expected: [String]) throws {
        let entries = names.map { ($0, Pickle.tensor()) }
        let scratch = try TemporaryFolder()
        try write(
            PyTorchFile.archive(Pickle.whole(Pickle.dictionary(entries))),
            to: scratch.path("weights.pth"))
        let dict = try StateDict(contentsOf: scratch.path("weights.pth"))
        #expect(expected.allSatisfy { dict[$0] != nil } && dict.count == expected.count)
    }

    /// The stride of a dimension of one element may be any number.
    @Test func strideOfOneElement() throws {
        let tensor = Pickle.tensor([2, 1, 2], [1, .max, 2])
        let scratch = try TemporaryFolder()
        try write(
            PyTorchFile.archive(Pickle.whole(Pickle.dictionary(("w", tensor)))),
            to: scratch.path("weights.pth"))
        let dict = try StateDict(contentsOf: scratch.path("weights.pth"))
        #expect(dict["w"] == StoredTensor(shape: [2, 1, 2], floats: [0, 0, 0, 0]))
    }

    /// Sizes and offsets of 64 bits, as archives of more than 4 GiB have them.
    @Test func zip64() throws {
        let tail: [UInt8] = [16, 0, 0, 0, 0, 0, 0, 0]
        let pickle = ZipMaker.Record(
            "a/data.pkl", Pickle.whole(Pickle.dictionary(("w", Pickle.tensor()))))
        let storage = ZipMaker.Record("a/data/0", PyTorchFile.zeros)
            .with(\.storedBytes, 0xffff_ffff).with(\.byteCount, 0xffff_ffff)
            .with(\.extra, [9, 0, 1, 0, 7, 1, 0, 16, 0] + tail + tail)
        let scratch = try TemporaryFolder()
        try write(ZipMaker(records: [pickle, storage]).bytes, to: scratch.path("weights.pth"))
        let dict = try StateDict(contentsOf: scratch.path("weights.pth"))
        #expect(dict["w"] == StoredTensor(shape: [2, 2], floats: [0, 0, 0, 0]))
    }
}

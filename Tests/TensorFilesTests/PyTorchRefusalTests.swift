import Foundation
import RetintGraph
import RetintTensorFiles
import RetintTestSupport
import Testing

/// Files that torch.save does not write, made by hand, are refused with their rule.
@Suite struct PyTorchRefusalTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let bytes: [UInt8]
        let rule: Rule
        var testDescription: String { name }

        init(_ name: String, _ bytes: [UInt8], _ rule: Rule) {
            (self.name, self.bytes, self.rule) = (name, bytes, rule)
        }
    }

    /// The kind of an error, and words that it must have; damage, unless something else is said.
    struct Rule: ExpressibleByStringLiteral, Sendable {
        let kind: TensorFileError.Kind
        let phrase: String

        init(_ kind: TensorFileError.Kind, _ phrase: String) {
            (self.kind, self.phrase) = (kind, phrase)
        }

        init(stringLiteral phrase: String) { self.init(.damaged, phrase) }

        static func refused(_ phrase: String) -> Rule { Rule(.refused, phrase) }
        static func otherFormat(_ phrase: String) -> Rule { Rule(.otherFormat, phrase) }
        static func notFound(_ phrase: String) -> Rule { Rule(.notFound, phrase) }
    }

    private static func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// Pickles that call something, or would if they were carried out.
    private static let calls: [(name: String, body: [UInt8], phrase: String)] = [
        ("posix", Pickle.call(Pickle.global("posix", "system"), Pickle.text("id")), "posix.system"),
        ("eval", Pickle.call(Pickle.global("builtins", "eval"), Pickle.text("1")), "builtins.eval"),
        (
            "stack global", Pickle.text("os") + Pickle.text("system") + [0x93], "\"os.system\""
        ),
        ("nested pickle", Pickle.global("torch.storage", "_load_from_bytes"), "_load_from_bytes"),
        ("torch's own", Pickle.global("torch", "load"), "\"torch.load\""),
        ("sparse", Pickle.global("torch._utils", "_rebuild_sparse_tensor"), "sparse"),
        ("module", Pickle.global("torch.nn.modules.conv", "Conv2d"), "whole module"),
        ("own class", Pickle.global("__main__", "Net"), "torch.save(model.state_dict()"),
        ("dotted name", Pickle.global("collections", "OrderedDict.fromkeys"), "fromkeys"),
        ("terminal", Pickle.global("a\u{1b}[31m", "b"), "\\u{1B}[31m"),
        ("INST", ascii("(iposix\nsystem\n"), "INST"), ("OBJ", ascii("(o"), "OBJ"),
        ("NEWOBJ", Pickle.global("torch", "Size") + ascii(")") + [0x81], "NEWOBJ"),
        ("NEWOBJ_EX", [0x92], "NEWOBJ_EX"), ("EXT1", [0x82, 1], "EXT1"),
        ("PERSID", ascii("P0\n"), "PERSID"), ("DUP", ascii("N2"), "DUP"),
        ("POP", ascii("NN0"), "POP"), ("LONG4", [0x8b, 255, 255, 255, 127], "LONG4"),
        ("buffer", [0x97], "NEXT_BUFFER"), ("protocol 0", ascii("I1\n"), "INT"),
        ("unknown", [0xff], "unknown opcode"),
        ("call of a text", Pickle.call(Pickle.text("x")), "not a known function"),
        ("call of a type", Pickle.call(Pickle.global("torch", "FloatStorage")), "calls a type"),
        ("state of a tensor", Pickle.tensor() + ascii("}b"), "sets the state"),
        ("state of a list", ascii("]}b"), "sets the state"),
        ("persistent module", Pickle.storage(kind: "module"), "of the kind \"module\""),
        ("view", Pickle.storage(view: ascii(")")), "is a view"),
        ("list in itself", ascii("]q\0h\0a"), "may contain itself"),
        (
            "dictionary in itself", ascii("}q\0") + Pickle.text("a") + ascii("h\0s"),
            "contain itself"
        ),
        ("cycle of two", ascii("]q\0]q\u{1}h\0ah\0h\u{1}a"), "contain itself"),
        ("changed in a tuple", ascii("]q\0") + [0x85] + ascii("h\0Na"), "contain itself"),
        (
            "deep",
            [UInt8](repeating: UInt8(ascii: "]"), count: 40)
                + [UInt8](repeating: UInt8(ascii: "a"), count: 39), "more than 32 deep"
        ),
        ("deep tuples", ascii(")") + [UInt8](repeating: 0x85, count: 40), "more than 32 deep"),
        (
            "many objects", ascii("(") + [UInt8](repeating: UInt8(ascii: "]"), count: 4_000_000),
            "more objects than"
        ),
        ("a list in many dictionaries", sharedList, "more objects than"),
        ("long name", Pickle.global(String(repeating: "a", count: 300), "b"), "than 256 bytes"),
        ("not UTF-8", ascii("U") + [1, 0xff], "not UTF-8"),
        ("conjugated", Pickle.tensor(more: Pickle.dictionary(("conj", [0x88]))), "conjugated"),
    ]

    /// One list of pairs, from which a thousand dictionaries are made.
    private static let sharedList: [UInt8] = {
        let pair = ascii("](") + Pickle.text("a") + ascii("Ne")
        let dictionary = Pickle.global("collections", "OrderedDict") + ascii("h\0") + [0x85]
        let pairs = repeatElement(pair, count: 5000).flatMap { $0 }
        let dictionaries = repeatElement(dictionary + ascii("R"), count: 1000).flatMap { $0 }
        return ascii("](") + pairs + ascii("eq\0") + dictionaries
    }()

    /// Pickles that break off, claim more than there is, or make no sense.
    private static let senseless: [(name: String, body: [UInt8], phrase: String)] = [
        ("text of 4 GiB", ascii("X") + [255, 255, 255, 255], "4294967295 bytes are expected"),
        ("text of 8 EiB", [0x8d] + [UInt8](repeating: 0xff, count: 8), "18446744073709551615"),
        ("bytes of 2 GiB", ascii("B") + [0, 0, 0, 128], "2147483648 bytes are expected"),
        ("frame", [0x95, 0, 0, 0, 0, 0, 0, 0, 1], "a frame of"),
        ("no mark", ascii("t"), "none is set"), ("empty stack", ascii("a"), "empty stack"),
        ("below the mark", ascii("N(R"), "empty stack"),
        ("nothing to remember", ascii("q\0"), "empty stack"),
        ("not remembered", ascii("h\u{7}"), "object 7"),
        ("not remembered either", ascii("j") + [255, 255, 255, 255], "object 4294967295"),
        ("two objects", ascii("NN"), "2 objects"), ("no object", [], "0 objects"),
        ("mark left", ascii("(N"), "instead of one"),
        ("key alone", ascii("}(Nu"), "without a value"), ("no list", ascii("}Na"), "not a list"),
        ("no dictionary", ascii("]NNs"), "not a dictionary"),
        ("arguments", Pickle.global("torch", "Size") + ascii("NR"), "tuple of arguments"),
        ("no size", Pickle.call(Pickle.global("torch", "Size"), ascii("N")), "Size needs"),
        ("no pairs", Pickle.call(Pickle.global("collections", "OrderedDict"), ascii("N")), "pairs"),
        (
            "pairs of three",
            Pickle.call(Pickle.global("collections", "OrderedDict"), ascii("](NNNta")), "pairs"
        ),
        ("stack global", ascii("NN") + [0x93], "two names"),
        ("persistent number", ascii("K\u{1}Q"), "a tuple that begins"),
        ("negative storage", Pickle.storage(count: -1), "a storage needs"),
        ("storage of functions", Pickle.storage("Size"), "a storage needs"),
        ("two types", Pickle.storage() + Pickle.storage("HalfStorage"), "two types or sizes"),
        ("two sizes", Pickle.storage() + Pickle.storage(count: 5), "two types or sizes"),
        ("no storage", Pickle.tensor(of: ascii("N")), "a tensor needs"),
        ("no parameter", Pickle.call(Pickle.global("torch._utils", "_rebuild_parameter")), "needs"),
        (
            "no dtype",
            Pickle.call(
                Pickle.global("torch._utils", "_rebuild_tensor_v3"), Pickle.storage(), ascii("K\0"),
                ascii(")"), ascii(")"), ascii("N"), ascii("N"), ascii("N")), "needs a dtype"
        ),
    ]

    private static let versions = [0, 1, 6, 255].map {
        Case("protocol \($0)", Pickle.whole([], version: $0), .refused("protocol \($0)"))
    }

    static let pickles =
        calls.map { Case($0.name, Pickle.whole($0.body), .refused($0.phrase)) }
        + senseless.map { Case($0.name, Pickle.whole($0.body), Rule(.damaged, $0.phrase)) }
        + versions

    @Test(arguments: pickles)
    func refusesPickles(_ test: Case) throws {
        try expectRefusal(of: PyTorchFile.archive(test.bytes), test)
        try expectRefusal(of: PyTorchFile.stream(test.bytes), test)
    }

    private static func network(_ tensor: [UInt8]) -> [UInt8] {
        Pickle.whole(Pickle.dictionary(("w", tensor)))
    }

    private static func named(
        _ name: String, _ tensor: [UInt8], _ rule: Rule
    ) -> Case { Case(name, network(tensor), rule) }

    /// Tensors that do not fit their storages, which have 4 elements of float32.
    static let tensors: [Case] = [
        named("too long", Pickle.tensor([5], [1]), "exceed the 4 elements"),
        named("too far", Pickle.tensor([2, 2], [3, 1]), "exceed the 4 elements"),
        named("offset", Pickle.tensor(offset: 1), "exceed the 4 elements"),
        named("offset of none", Pickle.tensor(offset: 5, [0], [1]), "exceed the 4 elements"),
        named("negative offset", Pickle.tensor(offset: -1), "are inconsistent"),
        named("negative stride", Pickle.tensor([2], [-1]), "are inconsistent"),
        named("negative extent", Pickle.tensor([-2], [1]), "are inconsistent"),
        named("strides of another rank", Pickle.tensor([2, 2], [1]), "are inconsistent"),
        named("overflow", Pickle.tensor([2, 2], [.max, .max]), "exceed the 4 elements"),
        named("offset overflow", Pickle.tensor(offset: .max, [2], [1]), "exceed the 4 elements"),
        named("offset at the end", Pickle.tensor(offset: .max, [1], [1]), "exceed the 4 elements"),
        named("size", Pickle.tensor([1 << 40, 1 << 40], [0, 0]), .refused("too large")),
        named("bytes", Pickle.tensor([1 << 62], [0]), "exceed the 4 elements"),
        named("expanded", Pickle.tensor([1 << 31], [0]), .refused("exceed the limit of")),
        named(
            "rank", Pickle.tensor([Int](repeating: 1, count: 9), [Int](repeating: 1, count: 9)),
            .refused("9 dimensions")),
        named("storage of bits", Pickle.tensor(of: Pickle.storage(count: .max)), "elements"),
        named(
            "long name", Pickle.tensor(of: Pickle.storage(key: String(repeating: "1", count: 300))),
            "a storage needs"),
        Case("no dictionary", Pickle.whole(Pickle.tensor()), .otherFormat("no dictionary")),
        Case(
            "no tensors", Pickle.whole(Pickle.dictionary(("lr", Pickle.integer(1)))),
            .notFound("no named tensors")),
        Case(
            "twice",
            Pickle.whole(Pickle.dictionary(("w", Pickle.tensor()), ("w", Pickle.tensor()))),
            "is in the file twice"),
        Case(
            "name of a megabyte",
            Pickle.whole(
                Pickle.dictionary((String(repeating: "w", count: 1 << 20), Pickle.tensor()))),
            .refused("a name of more than 4096 bytes")),
    ]

    @Test(arguments: tensors)
    func refusesTensors(_ test: Case) throws {
        try expectRefusal(of: PyTorchFile.archive(test.bytes), test)
    }

    private static let data = ZipMaker.Record("a/data.pkl", network(Pickle.tensor()))
    private static let storage = ZipMaker.Record("a/data/0", PyTorchFile.zeros)
    private static let order = ZipMaker.Record("a/byteorder", ascii("middle"))

    private static func zip(
        _ name: String, _ records: [ZipMaker.Record], _ rule: Rule,
        _ change: (inout ZipMaker) -> Void = { _ in }
    ) -> Case {
        var maker = ZipMaker(records: records)
        change(&maker)
        return Case(name, maker.bytes, rule)
    }

    static let zips: [Case] = [
        zip("empty", [], .otherFormat("exactly one data.pkl")),
        zip(
            "program",
            [.init("e/archive_format", Array("pt2".utf8)), .init("e/models/model.json", [])],
            .otherFormat("is a program of torch.export")),
        zip("no pickle", [storage], .otherFormat("exactly one data.pkl")),
        zip("pickle at the top", [.init("data.pkl", [])], .otherFormat("exactly one data.pkl")),
        zip("two pickles", [data, .init("b/data.pkl", [])], .otherFormat("exactly one data.pkl")),
        zip("TorchScript", [data, .init("a/code/x.py", [])], .otherFormat("TorchScript")),
        zip("constants", [data, .init("a/constants.pkl", [])], .otherFormat("TorchScript")),
        zip("record twice", [data, storage, storage], "is in the file twice"),
        zip("shared bytes", [data, storage.with(\.offset, 0)], "shares bytes"),
        zip("inside another", [data, storage.with(\.offset, 40)], "shares bytes"),
        zip(
            "another header", [data, storage.with(\.headerName, ascii("a/data/1"))],
            "not the one that the directory"),
        zip("no header", [data.with(\.offset, 2), storage], "not the one that the directory"),
        zip("header behind", [data, storage.with(\.offset, 1 << 20)], "after the records"),
        zip("bytes behind", [data, storage.with(\.storedBytes, 1 << 20)], "exceed the file's"),
        zip("deflated", [data.with(\.method, 8), storage], .refused("is deflated")),
        zip("deflated storage", [data, storage.with(\.method, 8)], .refused("is deflated")),
        zip("LZMA", [data.with(\.method, 14), storage], .refused("(method 14)")),
        zip("encrypted", [data, storage.with(\.flags, 1)], .refused("is encrypted")),
        zip("bomb", [data, storage.with(\.byteCount, 1 << 31)], "16 bytes instead of"),
        zip("checksum", [data, storage.with(\.checksum, 1)], "its checksum"),
        zip("checksum of the pickle", [data.with(\.checksum, 1), storage], "its checksum"),
        zip("no storage", [data], "\"a/data/0\" is not in the file"),
        zip("short storage", [data, .init("a/data/0", [1, 2, 3])], "has 3 bytes"),
        zip("byte order", [data, storage, order], .refused("neither \"little\" nor")),
        zip("name", [.init(rawName: [0xff, 0xfe])], "is not UTF-8"),
        zip("name of 5000", [.init(String(repeating: "a", count: 5000), [])], "names are long"),
        zip(
            "no extra field", [data, storage.with(\.storedBytes, 0xffff_ffff)],
            "an extra field, which is missing"),
        zip(
            "extra field of 8 EiB",
            [
                data,
                storage.with(\.storedBytes, 0xffff_ffff)
                    .with(\.extra, [1, 0, 8, 0] + [UInt8](repeating: 0xff, count: 8)),
            ], "an extra field, which is missing"),
        zip(
            "offset of 4 EiB",
            [
                data,
                storage.with(\.offset, 0xffff_ffff)
                    .with(\.extra, [1, 0, 8, 0] + [UInt8](repeating: 0x3f, count: 8)),
            ], "after the records"),
        zip(
            "size of 4 EiB",
            [
                data,
                storage.with(\.storedBytes, 0xffff_ffff)
                    .with(\.extra, [1, 0, 8, 0] + [UInt8](repeating: 0x3f, count: 8)),
            ], "exceed the file's"),
        zip("several disks", [data, storage], .refused("multi-part zip")) { $0.disk = 1 },
        zip("more entries", [data, storage], "no entry at") { $0.entryCount = 3 },
        zip("fewer entries", [data, storage], "continues after") { $0.entryCount = 1 },
        zip("more entries than bytes", [data, storage], .refused("directory of 65000")) {
            $0.entryCount = 65000
        },
        zip("directory behind", [data, storage], "exceeds the file") {
            $0.directoryOffset = 1 << 20
        },
        zip("directory too long", [data, storage], "exceeds the file") {
            $0.directoryBytes = 1 << 20
        },
        zip("directory of 4 GiB", [data, storage], .refused("the limit is 67108864")) {
            $0.directoryBytes = 0xffff_ffff
        },
        zip("ZIP64 record behind", [data, storage], "its ZIP64 record") {
            $0.beforeEnd = [0x50, 0x4b, 6, 7] + [UInt8](repeating: 0xff, count: 16)
        },
        zip("no ZIP64 record", [data, storage], "has no ZIP64 record") {
            $0.beforeEnd = [0x50, 0x4b, 6, 7] + [UInt8](repeating: 0, count: 16)
        },
        Case("no directory", Array(ZipMaker(records: [data]).bytes.dropLast()), "is truncated"),
    ]

    @Test(arguments: zips)
    func refusesZipFiles(_ test: Case) throws { try expectRefusal(of: test.bytes, test) }

    private static let pickle = network(Pickle.tensor())
    private static let count: [UInt8] = [4, 0, 0, 0, 0, 0, 0, 0]

    static let streams = [
        Case(
            "magic", PyTorchFile.stream(pickle, magic: [1, 2, 3, 4, 5, 6, 7, 8, 9]),
            .otherFormat("not one of torch.save")),
        Case("plain pickle", pickle, .otherFormat("not one of torch.save")),
        Case("version", PyTorchFile.stream(pickle, version: 1002), .refused("version 1001")),
        Case("big-endian", PyTorchFile.stream(pickle, isLittle: false), .refused("big-endian")),
        Case("no keys", PyTorchFile.stream(pickle, keys: PyTorchFile.keys()), "list of storages"),
        Case(
            "other keys", PyTorchFile.stream(pickle, keys: PyTorchFile.keys("0", "1")),
            "list of storages"),
        Case(
            "keys twice", PyTorchFile.stream(pickle, keys: PyTorchFile.keys("0", "0")),
            "list of storages"),
        Case("keys as text", PyTorchFile.stream(pickle, keys: Pickle.text("0")), "list of"),
        Case(
            "other count", PyTorchFile.stream(pickle, storage: [5] + count.dropFirst()),
            "has 5 elements"),
        Case(
            "short", PyTorchFile.stream(pickle, storage: count + PyTorchFile.zeros.dropLast()),
            "15 bytes are left"),
        Case("no count", PyTorchFile.stream(pickle, storage: [4]), "8 bytes are expected"),
        Case(
            "rest", PyTorchFile.stream(pickle, storage: count + PyTorchFile.zeros + [0]),
            "1 bytes follow"),
        Case(
            "storage of 8 EiB",
            PyTorchFile.stream(
                network(Pickle.tensor(of: Pickle.storage(count: .max))),
                storage: [UInt8](repeating: 0xff, count: 7) + [0x7f]), "bytes are left"),
        Case(
            "tar", [UInt8](repeating: 0, count: 257) + ascii("ustar") + PyTorchFile.zeros,
            .otherFormat("is a tar file")),
    ]

    @Test(arguments: streams)
    func refusesStreams(_ test: Case) throws { try expectRefusal(of: test.bytes, test) }

    /// What torch itself wrote, but not as weights.
    @Test(arguments: [
        ("module", TensorFileError.Kind.refused, "is a whole module"),
        ("script", .otherFormat, "is a TorchScript program"),
        ("sparse", .refused, "_rebuild_sparse_tensor"), ("conjugated", .refused, "conjugated"),
        ("deflated", .refused, "is deflated"),
    ])
    func refusesOtherThings(file: String, kind: TensorFileError.Kind, phrase: String) throws {
        let path = golden(file, .pytorch)
        let error = try #require(failure { _ = try StateDict(contentsOf: path) })
        #expect(error.kind == kind && error.file == path, "\(error)")
        #expect(error.description.contains(phrase), "\(error)")
    }

    /// A storage of 5 GiB that takes no room on the disk is not read to look at one element.
    @Test func sparseFile() throws {
        let count = 5 << 30
        let tensor = Pickle.tensor(of: Pickle.storage("ByteStorage", count: count), [1], [1])
        var size = withUnsafeBytes(of: UInt64(count).littleEndian) { Array($0) }
        size = PyTorchFile.stream(Self.network(tensor), storage: size)
        let scratch = try TemporaryFolder()
        let path = scratch.path("weights.pth")
        try write(size, to: path)
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.truncate(atOffset: handle.seekToEnd() + UInt64(count))
        let error = try #require(failure { _ = try StateDict(contentsOf: path) })
        #expect(error.kind == .unreadable && error.description.contains("the rest are holes"))
    }

    private func expectRefusal(of bytes: [UInt8], _ test: Case) throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("weights.pth")
        try write(bytes, to: path)
        let error = try #require(failure { _ = try StateDict(contentsOf: path) })
        #expect(error.kind == test.rule.kind && error.file == path, "\(error)")
        #expect(error.description.contains(test.rule.phrase), "\(error)")
        #expect(error.description.utf8.count < 8192)
    }
}

import Foundation
import RetintGraph
import RetintTestSupport
import Testing

@testable import RetintTensorFiles

/// Files in NumPy's format, which `Goldens/record_numpy.py` wrote with NumPy.
@Suite struct NumPyTests {
    private func read(_ name: String) throws -> StoredTensor {
        try NumPyFile(goldenPath("\(name).npy")).read()
    }

    @Test(arguments: [
        ("ramp-f2", StoredType.float16), ("ramp-f4", .float32), ("ramp-f8", .float64),
        ("ramp-big-endian", .float64), ("ramp-fortran", .float32), ("ramp-version-2", .float32),
        ("ramp-version-3", .float16),
    ])
    func readsFloats(_ name: String, _ type: StoredType) throws {
        let tensor = try read(name)
        #expect(tensor.shape == [2, 3, 4] && tensor.storedType == type)
        #expect(tensor.floats == ramp(24))
    }

    @Test(
        arguments: [
            ("i1", [-128, 7, 127]), ("i2", [-32768, 7, 32767]),
            ("i4", [-2_147_483_648, 7, 0x7fff_ffff]),
            ("i8", [.min, 7, .max]), ("u1", [0, 7, 255]), ("u2", [0, 7, 65535]),
            ("u4", [0, 7, 0xffff_ffff]), ("u8", [0, 7, .max]),
        ] as [(String, [Int64])])
    func readsIntegers(_ code: String, _ values: [Int64]) throws {
        let tensor = try read("limits-\(code)")
        #expect(tensor.shape == [3] && tensor.integers == values)
    }

    @Test func readsUnusualShapes() throws {
        #expect(try read("scalar") == StoredTensor(shape: .scalar, floats: [0.25]))
        #expect(try read("one") == StoredTensor(shape: [5], floats: ramp(5)))
        #expect(try read("none") == StoredTensor(shape: [0, 3], floats: []))
    }

    @Test(arguments: [
        ("booleans", "contains elements of the type \"|b1\""), ("complex", "\"<c8\""),
        ("text", "\"<U1\""), ("records", "arrays of records are not supported"),
    ])
    func refusesOtherElements(_ name: String, _ phrase: String) throws {
        let error = try #require(failure { _ = try read(name) })
        #expect(error.description.contains(phrase), "\(error)")
    }

    @Test func archivesHoldSeveral() throws {
        let tensors = try NumPyArchive.read(goldenPath("pair.npz"))
        #expect(tensors.map(\.name) == ["ids", "x"])
        #expect(tensors[0].tensor.integers == [3, 1, 4])
        #expect(tensors[1].tensor.shape == [2, 3, 4] && tensors[1].tensor.floats == ramp(24))
    }

    @Test(arguments: [
        ("deflated.npz", "\"x.npy\": is deflated; save it without compression"),
        ("big-endian.pth", "numpy.savez writes arrays (NAME.npy)"),
        ("ramp-f4.npy", "zip"),
    ])
    func otherArchivesAreRefused(_ name: String, _ phrase: String) throws {
        let error = try #require(failure { _ = try NumPyArchive.read(goldenPath(name)) })
        #expect(error.description.contains(phrase), "\(error)")
    }

    /// Weights are not read from them.
    @Test(arguments: [
        ("pair.npz", "is an archive of NumPy (.npz)"),
        ("deflated.npz", "is an archive of NumPy (.npz)"),
        ("ramp-f4.npy", "is an array of NumPy (.npy)"),
    ])
    func filesAreNoWeights(_ name: String, _ phrase: String) throws {
        let error = try #require(failure { _ = try openTensorFile(goldenPath(name)) })
        #expect(error.kind == .otherFormat && error.rule.hasPrefix(phrase), "\(error)")
        #expect(error.rule.contains("--inputs") && !error.remedy.isEmpty)
    }

    /// Each array is within its entry.
    @Test func damagedArchivesAreRefused() throws {
        let scratch = try TemporaryFolder()
        let whole = try bytes(of: goldenPath("pair.npz"))
        let start = try #require(
            whole.indices.first { whole[$0...].starts(with: NumPyHeader.magic) })
        var damaged = whole
        damaged[start + 70] ^= 1
        for bytes in [Array(whole.dropLast(1)), damaged] {
            let path = scratch.path("x.npz")
            try Data(bytes).write(to: URL(filePath: path))
            #expect(throws: TensorFileError.self) { try NumPyArchive.read(path) }
        }
    }

    /// What is written is what NumPy writes.
    @Test func writesTheBytesOfNumPy() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("new.npy")
        for name in ["ramp-f2", "ramp-f4", "ramp-f8", "scalar", "one", "none", "limits-i4"] {
            let golden = goldenPath("\(name).npy")
            try NumPyFile.write(NumPyFile(golden).read(), to: path)
            #expect(try bytes(of: path) == bytes(of: golden), "\(name)")
        }
        let brain = StoredTensor(shape: [1], floats: [1.5], storedType: .bfloat16)
        try NumPyFile.write(brain, to: path)
        #expect(try NumPyFile(path).read() == StoredTensor(shape: [1], floats: [1.5]))
    }
}

/// Damaged and hostile files in NumPy's format.
@Suite struct NumPyRefusalTests {
    private let scratch: TemporaryFolder
    private var path: String { scratch.path("a.npy") }

    init() throws { scratch = try TemporaryFolder() }

    private func refusal(_ bytes: [UInt8], _ limits: TensorFileLimits = .default) throws
        -> TensorFileError
    {
        try write(bytes, to: path)
        let error = try #require(failure { _ = try NumPyFile(path, limits: limits).read() })
        #expect(error.file == path)
        return error
    }

    /// A file of version 1.0 with a header's text and some bytes of elements.
    private static func file(_ text: String, data: Int = 8, length: Int? = nil) -> [UInt8] {
        let count = length ?? text.utf8.count
        return NumPyHeader.magic + [1, 0, UInt8(count & 0xff), UInt8(count >> 8)]
            + Array(text.utf8) + [UInt8](repeating: 0, count: data)
    }

    private static func header(
        _ type: String = "'<f4'", _ order: String = "False", _ shape: String = "(2,)"
    ) -> String {
        "{'descr': \(type), 'fortran_order': \(order), 'shape': \(shape), }\n"
    }

    @Test func truncationsAreRefused() throws {
        let whole = try bytes(of: goldenPath("ramp-fortran.npy"))
        for count in whole.indices { _ = try refusal(Array(whole.prefix(count))) }
        #expect(try refusal(whole + [0]).problem.contains("has 97 bytes of elements"))
    }

    static let headers: [([UInt8], String)] = [
        (file(header("'<f4'", "False", "(2)")), "\",\" is expected"),
        (file(header("'<f4'", "False", "(3,)")), "which do not match float32 of shape [3]"),
        (file(header("'<f4'", "False", "(-2,)")), "a number from 0"),
        (file(header("'<f4'", "False", "(18446744073709551616,)")), "a number from 0"),
        (file(header("'<f4'", "False", "(4294967296, 4294967296)")), "is too large"),
        (file(header("'<f4'", "False", "(9223372036854775807, 0)")), "is too large"),
        (file(header("'<f8'", "False", "(2305843009213693952,)")), "do not match"),
        (file(header("'<f4'", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 2)")), "has 9 dimensions"),
        (file(header("'f4'")), "elements of the type \"f4\""),
        (file(header("'|f4'")), "\"|f4\""), (file(header("'>b1'")), "\">b1\""),
        (file(header("[('x', '<f4')]")), "records"), (file(header("'<f4'", "0")), "True or False"),
        (file("{'descr': '<f4'}"), "lacks descr, fortran_order or shape"),
        (file("{'descr': '<f4', 'descr': '<f4'}"), "unknown or duplicated"),
        (file("{'x': '<f4'}"), "unknown or duplicated"),
        (file("{'descr: 2}"), "the string does not end"), (file("{"), "a name in quotes"),
        (file(header() + "x"), "should end here"), (file(""), "\"{\" is expected"),
        (file(header(), data: 0, length: 0xffff), "ends within its header"),
        (NumPyHeader.magic + [4, 0, 0, 0], "other than 1, 2 or 3"),
        (NumPyHeader.magic + [2, 0, 0xff, 0xff, 0xff, 0xff], "the limit is 65536"),
        (Array("\u{7f}ELF".utf8), "not a NumPy file"), ([], "not a NumPy file"),
    ]

    @Test(arguments: headers)
    func damagedHeadersAreRefused(_ bytes: [UInt8], _ phrase: String) throws {
        let error = try refusal(bytes)
        #expect(error.description.contains(phrase), "\(error)")
    }

    /// Integers of one byte become 64-bit ones.
    @Test func whatATensorBecomesIsBounded() throws {
        let bytes = Self.file(Self.header("'|i1'", "False", "(4,)"), data: 4)
        try write(bytes, to: path)
        let tensor = try NumPyFile(path, limits: TensorFileLimits(totalBytes: 32)).read()
        #expect(tensor.integers == [0, 0, 0, 0])
        #expect(
            try refusal(bytes, TensorFileLimits(totalBytes: 31)).problem.contains("its 32 bytes"))
    }

    @Test func largeTensorsAreRefused() throws {
        let limits = TensorFileLimits(totalBytes: 7)
        #expect(try refusal(Self.file(Self.header()), limits).problem.contains("limit of 7 bytes"))
    }
}

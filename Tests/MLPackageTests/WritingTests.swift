import Foundation
import RetintTestSupport
import SystemPackage
import Testing

@testable import RetintMLPackage

struct WritingTests {
    @Test(arguments: DeploymentTarget.allCases, [MILDataType.float32, .float16])
    func readsBackWhatItWrote(target: DeploymentTarget, precision: MILDataType) throws {
        let scratch = try TemporaryFolder()
        let package = try Example(precision, target).package()
        try package.write(to: scratch.path("a.mlpackage"))
        let again = try MLPackage(contentsOf: scratch.path("a.mlpackage"))
        #expect(try loaded(again) == package)
    }

    /// Leaves packages for `Scripts/check mlpackage` in the directory that the variable names.
    @Test(.enabled(if: Self.keptPackages != nil), arguments: DeploymentTarget.allCases)
    func keepsPackages(target: DeploymentTarget) throws {
        let directory = try #require(Self.keptPackages)
        for precision in [MILDataType.float32, .float16] {
            let name = "\(precision)-\(target).mlpackage"
            try Example(precision, target).package().write(to: directory + "/" + name)
        }
        for name in Goldens.names {
            let package = try MLPackage(contentsOf: Goldens.path(name))
            guard package.target == target else { continue }
            try package.write(to: "\(directory)/\(name).mlpackage")
        }
    }

    private static let keptPackages = ProcessInfo.processInfo.environment["RETINT_KEEP_PACKAGES"]

    @Test func sameModelGivesSameBytes() throws {
        let scratch = try TemporaryFolder()
        for name in ["a", "b"] { try Example().package().write(to: scratch.path(name)) }
        // A third one goes through a reader, so that its weights come from a file.
        try MLPackage(contentsOf: scratch.path("a")).write(to: scratch.path("c"))
        for part in Part.all {
            let bytes = try contents(scratch.path("a/" + part))
            #expect(try contents(scratch.path("b/" + part)) == bytes)
            #expect(try contents(scratch.path("c/" + part)) == bytes)
        }
    }

    @Test func otherWeightsGiveOtherIdentifiers() throws {
        let scratch = try TemporaryFolder()
        var package = try Example().package()
        try package.write(to: scratch.path("a"))
        let index = try #require(
            package.program.operations.firstIndex { $0.outputs[0].name == "model1_0_weight" })
        package.program.operations[index].attributes["val"] = .floats(
            Example.elements(36, scale: 0.02), shape: [4, 1, 3, 3])
        try package.write(to: scratch.path("b"))
        let identifiers = try ["a", "b"].map {
            try Manifest(package: scratch.path($0)).itemInfoEntries.keys.sorted()
        }
        #expect(identifiers.flatMap { $0 }.allSatisfy { UUID(uuidString: $0) != nil })
        #expect(identifiers[0] != identifiers[1])
    }

    @Test func equalBlobsAreWrittenOnce() throws {
        let scratch = try TemporaryFolder()
        let numbers = Example.elements(1000)
        let sizes = try [[numbers, numbers], [numbers, numbers.reversed()]].map { tensors in
            try constants(tensors.map { .floats($0) }).write(to: scratch.path("a"))
            return try contents(scratch.path("a/" + Part.weights)).count
        }
        #expect(sizes == [64 + 64 + 4000, 64 + 64 + 4032 + 64 + 4000])
    }

    @Test func weightFileLayout() throws {
        let scratch = try TemporaryFolder()
        try constants([.floats(Example.elements(10)), .int8([Int8](repeating: -1, count: 11))])
            .write(to: scratch.path("a"))
        let bytes = try contents(scratch.path("a/" + Part.weights))
        #expect(bytes.count == 64 + 64 + 64 + 64 + 11)
        #expect(Array(bytes[0..<8]) == [2, 0, 0, 0, 2, 0, 0, 0])
        let record: [UInt8] = [0xEF, 0xBE, 0xAD, 0xDE, 2, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0, 128]
        #expect(Array(bytes[64..<81]) == record)
        #expect(Array(bytes[192..<209]) == [0xEF, 0xBE, 0xAD, 0xDE, 4, 0, 0, 0, 11] + zeros(8))
        #expect(bytes[256...] == [UInt8](repeating: 0xFF, count: 11)[...])
    }

    @Test func packageWithoutBlobsHasNoWeightFile() throws {
        let scratch = try TemporaryFolder()
        try constants([.floats(Example.elements(9))]).write(to: scratch.path("a"))
        #expect(!FileManager.default.fileExists(atPath: scratch.path("a/" + Part.weights)))
        #expect(try Manifest(package: scratch.path("a")).itemInfoEntries.count == 1)
        _ = try MLPackage(contentsOf: scratch.path("a"))
    }

    @Test func replacesPackagesAndNothingElse() throws {
        let scratch = try TemporaryFolder()
        let package = try Example().package()
        try package.write(to: scratch.path("a"))
        let before = try MLPackage(contentsOf: scratch.path("a"))
        try constants([.floats([1])]).write(to: scratch.path("a"))
        #expect(try MLPackage(contentsOf: scratch.path("a")).program != package.program)
        // What was read before the replacement is still whole.
        #expect(try loaded(before) == package)
        try FileManager.default.createDirectory(
            atPath: scratch.path("b/c"), withIntermediateDirectories: true)
        try replace(scratch.path("d"), [1])
        for name in ["b", "d", "missing/a"] {
            let place = scratch.path(name)
            #expect(error { () throws(MLPackageError) in try package.write(to: place) } != nil)
        }
        #expect(try contents(scratch.path("d")) == [1])
        #expect(try scratch.names() == ["a", "b", "d"])
    }

    @Test func failureLeavesNothing() throws {
        let scratch = try TemporaryFolder()
        let package = constants([.floats(Array(repeating: .nan, count: 10))])
        let path = scratch.path("a")
        let failure = try #require(
            error { () throws(MLPackageError) in try package.write(to: path) })
        #expect(failure.rule.contains("NaN"))
        #expect(failure.place.contains("c0"))
        #expect(try scratch.names() == [])
    }

    @Test func takesBackAnOldPackageAfterACrash() throws {
        let scratch = try TemporaryFolder()
        let package = try Example().package()
        try package.write(to: scratch.path("a"))
        try FileManager.default.moveItem(
            atPath: scratch.path("a"), toPath: scratch.path(".a.retint-old"))
        // Far above any process there is.
        try FileManager.default.createDirectory(
            atPath: scratch.path(".a.2147483646-x.retint-partial"),
            withIntermediateDirectories: true)
        try package.write(to: scratch.path("a"))
        #expect(try scratch.names() == ["a"])
    }

    /// Both pack to the same bytes, but their records state different amounts of padding.
    @Test func packedBlobsOfDifferentCountsAreNotShared() throws {
        let scratch = try TemporaryFolder()
        let ones = [Int32](repeating: 1, count: 31)
        let package = constants([ones, ones + [0]].map { .packed($0, as: .int4) })
        try package.write(to: scratch.path("a"))
        #expect(try loaded(MLPackage(contentsOf: scratch.path("a"))) == package)
    }

    /// Equal weights are stored once. A file in which thousands of values are the same megabyte
    /// would fill the memory, though.
    @Test func valuesThatShareTooMuchAreRefused() throws {
        let scratch = try TemporaryFolder()
        let floats = MILValue.floats([Float](repeating: 1.5, count: 1 << 18))
        try constants([MILValue](repeating: floats, count: 60)).write(to: scratch.path("some"))
        #expect(
            try loaded(MLPackage(contentsOf: scratch.path("some"))).program.operations.count > 0)
        try constants([MILValue](repeating: floats, count: 70)).write(to: scratch.path("many"))
        let failure = try #require(
            error { () throws(MLPackageError) in _ = try MLPackage(contentsOf: scratch.path("many"))
            })
        #expect(failure.description.contains("the values up to it take"), "\(failure)")
    }

    @Test func aCrashedWriteLeavesThePackageAndIsSwept() throws {
        let scratch = try TemporaryFolder()
        let package = try Example().package()
        try package.write(to: scratch.path("a"))
        let leftover = ".a.2147483646-x.retint-partial"
        try FileManager.default.copyItem(
            atPath: scratch.path("a"), toPath: scratch.path(leftover))
        try FileManager.default.removeItem(atPath: scratch.path("\(leftover)/" + Part.manifest))
        #expect(try loaded(MLPackage(contentsOf: scratch.path("a"))) == package)
        try package.write(to: scratch.path("a"))
        #expect(try scratch.names() == ["a"])
    }

    @Test func pathsAndURLsAreTakenAlike() throws {
        let scratch = try TemporaryFolder()
        let package = try Example().package()
        let path = scratch.path("a b.mlpackage")
        try package.write(to: URL(filePath: path))
        try package.write(to: FilePath(path))
        #expect(try loaded(MLPackage(contentsOf: URL(filePath: path))) == package)
        #expect(try loaded(MLPackage(contentsOf: FilePath(path + "/"))) == package)
        #expect(try scratch.names() == ["a b.mlpackage"])
    }

    private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    /// A program whose constants are the given ones.
    private func constants(_ values: [MILValue]) -> MLPackage {
        let operations = values.enumerated().map { index, value in
            MILOperation(
                "const", outputs: [MILNamedType("c\(index)", value.type)],
                attributes: ["val": value])
        }
        let type = MILTensorType(.float32, [1])
        let relu = MILOperation(
            "relu", inputs: ["x": [.name("x")]], outputs: [MILNamedType("y", type)])
        let program = MILProgram(
            inputs: [MILNamedType("x", type)], outputs: ["y"], operations: operations + [relu])
        let feature = FeatureType.multiArray(ArrayFeature(.float32, [1]))
        let description = ModelDescription(
            inputs: [Feature("x", feature)], outputs: [Feature("y", feature)])
        return MLPackage(target: .iOS18, description: description, program: program)
    }
}

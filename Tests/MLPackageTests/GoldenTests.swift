import Foundation
import RetintTestSupport
import Testing

@testable import RetintMLPackage

/// Packages of another implementation, against what that says they hold.
struct GoldenTests {
    struct Expected: Decodable {
        var version: Int32
        var operations: [String]
        var blobs: [Blob]

        struct Blob: Decodable {
            var operation: String
            var parameter: String
            var shape: [Int]
            var first: [Double]
            var sum: Double
            var squares: Double
        }
    }

    static func expected(_ name: String) throws -> Expected {
        let all: [String: Expected] = try decodeGolden("expected.json")
        return try #require(all[name])
    }

    @Test(arguments: Goldens.names) func reads(name: String) throws {
        let expected = try Self.expected(name)
        let package = try MLPackage(contentsOf: Goldens.path(name))
        #expect(package.target.specificationVersion == expected.version)
        #expect(package.program.operations.map(\.type).sorted() == expected.operations)
        for blob in expected.blobs {
            let value = try #require(Self.value(blob, in: package.program))
            #expect(value.type.shape == blob.shape)
            let isFloat = value.type.dataType.isFloat
            let elements =
                try isFloat ? value.floats().map(Double.init) : value.integers().map(Double.init)
            #expect(Array(elements.prefix(3)) == blob.first)
            #expect(abs(elements.reduce(0, +) - blob.sum) < 1e-9)
            #expect(abs(elements.reduce(0) { $0 + $1 * $1 } - blob.squares) < 1e-9)
        }
    }

    private static func value(_ blob: Expected.Blob, in program: MILProgram) -> MILValue? {
        let operation = program.operations.first { $0.outputs[0].name == blob.operation }
        if case .value(let value) = operation?.inputs[blob.parameter]?.first { return value }
        return operation?.attributes[blob.parameter]
    }

    @Test(arguments: Goldens.names) func writesBack(name: String) throws {
        let scratch = try TemporaryFolder()
        let package = try MLPackage(contentsOf: Goldens.path(name))
        try package.write(to: scratch.path("a"))
        let again = try MLPackage(contentsOf: scratch.path("a"))
        #expect(try loaded(again) == loaded(package))
        // Apple's library and this one lay out the same blobs in files of the same size.
        let sizes = try [Goldens.path(name), scratch.path("a")].map {
            try contents($0 + "/" + Part.weights).count
        }
        #expect(sizes[0] == sizes[1])
    }

    /// coremltools' package with two functions: each is read, and both are written back together.
    @Test func readsFunctions() throws {
        let path = Goldens.path("functions-iOS18")
        let large = try MLPackage(contentsOf: path + "#large")
        let small = try MLPackage(contentsOf: path)
        #expect(small.functionNames == ["small", "large"] && large.functionNames.count == 2)
        #expect(small.program.inputs[0].type.shape == [1, 1, 16, 16])
        #expect(large.program.inputs[0].type.shape == [1, 1, 32, 32])
        let scratch = try TemporaryFolder()
        let both = try MultifunctionPackage([("small", small), ("large", large)])
        try both.write(to: scratch.path("a"))
        for (name, package) in [("small", small), ("large", large)] {
            let again = try MLPackage(contentsOf: scratch.path("a") + "#\(name)")
            #expect(try loaded(again) == loaded(package))
        }
        let sizes = try [path, scratch.path("a")].map {
            try contents($0 + "/" + Part.weights).count
        }
        #expect(sizes[0] == sizes[1])
    }

    @Test func functionsAreAtMost64() throws {
        let package = try Example(.float16, .iOS18).package()
        let functions = (0..<65).map { (name: "f\($0)", package: package) }
        #expect(try MultifunctionPackage(Array(functions.prefix(64))).functions.count == 64)
        #expect(throws: MLPackageError.self) { try MultifunctionPackage(functions) }
    }

    /// A path is taken apart at its last #, unless something of the whole name exists.
    @Test func pathsNameFunctions() throws {
        let scratch = try TemporaryFolder()
        let whole = scratch.path("a#1.mlpackage#b")
        let path = FunctionPath(whole)
        #expect(path.package.string == scratch.path("a#1.mlpackage") && path.function == "b")
        try FileManager.default.createDirectory(
            atPath: whole, withIntermediateDirectories: false)
        #expect(FunctionPath(whole).function == nil)
    }

    @Test func seesTheIntegerInterface() throws {
        let package = try MLPackage(contentsOf: Goldens.path("int8-iOS26"))
        let features = package.description.inputs + package.description.outputs
        #expect(features.map(\.type.tensorType.dataType) == [.int8, .int8])
        #expect(package.target == .iOS26 && package.target.opset == "CoreML9")
    }

    @Test func seesTheImageInterface() throws {
        let package = try MLPackage(contentsOf: Goldens.path("image-iOS16"))
        let image = ImageFeature(width: 16, height: 16, colorSpace: .grayscale)
        #expect(package.description.inputs == [Feature("lightness", .image(image))])
        #expect(package.description.outputs.map(\.name) == ["ab"])
        #expect(package.description.metadata.userDefined.count >= 3)
    }
}

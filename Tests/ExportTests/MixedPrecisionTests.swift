import RetintArchitectures
import RetintCheckpoints
import RetintExport
import RetintGraph
import RetintLayers
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensorFiles
import RetintTestSupport
import Testing

/// float16 packages with some operations in float32.
@Suite struct MixedPrecisionTests {
    private static func options(
        _ change: (inout Float32Operations) -> Void = { _ in }
    ) -> ExportOptions {
        var options = ExportOptions(precision: .float16, size: 64)
        change(&options.float32)
        return options
    }

    private static func package(_ options: ExportOptions) throws -> MLPackage {
        let checkpoint = try Checkpoint(
            .named("mobile-unet", .init(width: 0.25)), seed: 1)
        return try ExportSource(checkpoint).package(options).package
    }

    /// The types of operations with float32 results, without constants.
    private static func single(_ package: MLPackage) -> [MILOperation] {
        package.program.operations.filter {
            !$0.isConstant && $0.type != "cast" && $0.outputs[0].type.dataType == .float32
        }
    }

    @Test(arguments: [
        (["up2.narrow.*"], ["conv"]), (["up2_narrow_0_conv*"], ["conv"]),
        (["*batch_norm"], []), (["head.*", "up2.upsample.*"], ["upsample_bilinear"]),
    ])
    func byName(_ patterns: [String], _ types: [String]) throws {
        let package = try Self.package(Self.options { $0.names = patterns })
        let kept = Self.single(package)
        #expect(!kept.isEmpty && Set(kept.map(\.type)).isSuperset(of: types))
        #expect(package.description.metadata.userDefined["retint.precision"] == "mixed")
        try checkCasts(package.program)
    }

    @Test func byType() throws {
        let package = try Self.package(Self.options { $0.types = ["tanh", "reduce_mean"] })
        #expect(Self.single(package).map(\.type) == ["reduce_mean", "tanh"])
        try checkCasts(package.program)
    }

    @Test func byMeasuredName() throws {
        let whole = try Self.package(Self.options())
        #expect(Self.single(whole).isEmpty)
        #expect(whole.description.metadata.userDefined["retint.precision"] == "float16")
        let none = try Self.package(Self.options { $0.overflowing = [] })
        #expect(none.program == whole.program)
        let package = try Self.package(Self.options { $0.overflowing = ["head.1.tanh"] })
        #expect(Self.single(package).map(\.type) == ["tanh"])
    }

    /// A weight outside the range of float16 keeps its operation in float32, if that is requested.
    @Test func byWeight() throws {
        var source = FormNetwork.source
        var variables = source.variables
        variables["up.weight"]?.scalars[5] = 70_000
        source = ExportSource(
            .named("form"), colorizer: source.colorizer, variables: variables)
        #expect(throws: ConversionError.self) { try source.package(Self.options()).package }
        let package = try source.package(Self.options { $0.overflowing = [] }).package
        #expect(Self.single(package).map(\.type) == ["conv_transpose"])
        try checkCasts(package.program)
    }

    @Test func refusesWhatFitsNothing() throws {
        let error = #expect(throws: ConversionError.self) {
            try Self.package(
                Self.options {
                    $0.names = ["head.*", "model8.*"]
                    $0.types = ["softmax"]
                })
        }
        #expect(error?.kind == .option)
        #expect(error?.place == "float32 operations model8.*, softmax")
        #expect(error?.remedy.contains("upsample_bilinear") == true)
    }

    @Test func colorsAsTheCheckpoint() throws {
        let export = try Exported(
            "mobile-unet", Self.options { $0.types = ["tanh", "upsample_bilinear", "conv"] })
        let found = try export.model.run(["input": export.lightness])["ab"]
        #expect(try psnr(found, try export.expected()) >= 60)
    }

    @Test func sameBytes() throws {
        let scratch = try TemporaryFolder()
        let options = Self.options {
            $0.names = ["up*"]
            $0.overflowing = ["head.1.tanh"]
        }
        for name in ["first", "second"] {
            try Self.package(options).write(to: scratch.path(name))
        }
        #expect(
            try contents(ofFolder: scratch.path("first"))
                == contents(ofFolder: scratch.path("second")))
    }

    /// Every cast changes the type, and no value is cast twice to the same type.
    private func checkCasts(_ program: MILProgram) throws {
        let types = program.types
        var seen: Set<[String]> = []
        for cast in program.operations where cast.type == "cast" {
            let source = try #require(cast.inputs["x"]?.first?.name)
            let type = cast.outputs[0].type.dataType
            #expect(types[source]?.dataType != type)
            #expect(seen.insert([source, "\(type)"]).inserted)
            let isBack = program.operations.contains {
                $0.type == "cast" && $0.outputs[0].name == source
            }
            #expect(!isBack)
        }
        #expect(!seen.isEmpty)
    }
}

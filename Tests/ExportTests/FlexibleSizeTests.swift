import RetintArchitectures
import RetintCheckpoints
import RetintEngine
import RetintExport
import RetintGraph
import RetintLayers
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensors
import RetintTestSupport
import Testing

/// Packages with flexible input sizes.
@Suite struct FlexibleSizeTests {
    private static func range(_ low: Int, _ high: Int) -> ExportOptions.Flexibility {
        .range(from: .init(low), to: .init(high))
    }

    private static func options(_ flexibility: ExportOptions.Flexibility) -> ExportOptions {
        var options = ExportOptions(output: .split, size: 64)
        options.flexibility = flexibility
        return options
    }

    struct Choice: Sendable {
        let name: String
        let flexibility: ExportOptions.Flexibility
        let input: ExportOptions.Input
    }

    /// At every size, the package matches the network.
    @Test(arguments: [
        Choice(name: "mobile-unet", flexibility: range(32, 128), input: .tensor),
        Choice(
            name: "mobile-unet", flexibility: .enumerated([.init(width: 96, height: 32)]),
            input: .image),
        Choice(name: "siggraph17", flexibility: range(32, 128), input: .tensor),
        Choice(name: "eccv16", flexibility: range(32, 128), input: .image),
    ])
    func runsAtItsSizes(_ choice: Choice) throws {
        let width = choice.name == "mobile-unet" ? 1 : 0.25
        let checkpoint = try Checkpoint(.named(choice.name, .init(width: width)), seed: 3)
        var export = Self.options(choice.flexibility)
        export.input = choice.input
        let scratch = try TemporaryFolder()
        try checkpoint.export(to: scratch.path("m.mlpackage"), options: export)
        let package = try MLPackage(contentsOf: scratch.path("m.mlpackage"))
        for (height, width) in [(64, 64), (32, 96)] {
            let shape: Shape = [1, 1, height, width]
            let raised = try RaisedPackage(package, inputShapes: ["input": shape])
            #expect(raised.interface.isColorizer)
            let scale = raised.lightnessScale
            let lightness = numbers(shape).scalars.map { 50 + 50 * $0 }
            let found = try raised.model.run([
                "input": TensorData(shape: shape, scalars: lightness.map { $0 * scale })
            ])
            let graph = Graph(mode: .inference)
            let colorizer = try checkpoint.network.make()
            let expected = try colorizer.forward(graph.input("L", shape)).evaluate(
                inputs: ["L": TensorData(shape: shape, scalars: lightness)],
                variables: checkpoint.variables)
            let (a, b) = try (#require(found["output_a"]), #require(found["output_b"]))
            let joint = TensorData(
                shape: [1, 2, height, width], scalars: a.scalars + b.scalars)
            #expect(try distance(joint, expected) <= 1e-3)
        }
    }

    @Test(
        arguments: [
            (range(32, 128), [1, 1, 160, 64], "32…128"), (range(32, 128), [1, 1, 64, 80], "32"),
            (.enumerated([.init(width: 96, height: 32)]), [1, 1, 96, 32], "[1, 1, 32, 96]"),
            (.fixed, [1, 1, 32, 32], "made for"),
        ] as [(ExportOptions.Flexibility, Shape, String)])
    func refusesOtherSizes(
        _ flexibility: ExportOptions.Flexibility, _ shape: Shape, _ words: String
    ) throws {
        let checkpoint = try Checkpoint(
            .named("mobile-unet", .init(width: 0.25)), seed: 1)
        let package = try ExportSource(checkpoint).package(Self.options(flexibility)).package
        let error = #expect(throws: ConversionError.self) {
            try RaisedPackage(package, inputShapes: ["input": shape])
        }
        #expect(error?.place == "input input")
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    }

    @Test(
        arguments: [
            (range(32, 60), "height 60"), (range(128, 256), "size 64×64"),
            (.enumerated([.init(width: 96, height: 40)]), "height 40"),
            (.enumerated((1...128).map { .init(96 + 32 * $0) }), "129 sizes"),
        ] as [(ExportOptions.Flexibility, String)])
    func refusesToExport(_ flexibility: ExportOptions.Flexibility, _ place: String) throws {
        let checkpoint = try Checkpoint(
            .named("mobile-unet", .init(width: 0.25)), seed: 1)
        let error = #expect(throws: ConversionError.self) {
            try ExportSource(checkpoint).package(Self.options(flexibility)).package
        }
        #expect(error?.place == place && error?.kind == .option)
    }

    /// A range or list with a single size is exported as a fixed size.
    @Test func oneSizeIsFixed() throws {
        let source = FormNetwork.source
        let fixed = try source.package(Self.options(.fixed)).package
        #expect(try source.package(Self.options(Self.range(64, 64))).package == fixed)
        #expect(try source.package(Self.options(.enumerated([.init(64)]))).package == fixed)
    }

    /// The error names the operation whose parameter depends on the size.
    @Test func namesWhatIsBoundToASize() throws {
        let network = SizedNetwork()
        let source = ExportSource(
            .named("sized"), colorizer: network,
            variables: StateSpec(of: network).initialValues(seed: 1))
        _ = try source.package(Self.options(.fixed)).package
        let error = #expect(throws: ConversionError.self) {
            try source.package(Self.options(Self.range(32, 128))).package
        }
        #expect(error?.place == "operation sized_mul (mul)")
        #expect(error?.rule.contains("its y depends on the size") == true)
    }

    @Test func sameBytes() throws {
        let scratch = try TemporaryFolder()
        for name in ["first", "second"] {
            try FormNetwork.source.package(Self.options(Self.range(32, 128))).package
                .write(to: scratch.path(name))
        }
        #expect(
            try contents(ofFolder: scratch.path("first"))
                == contents(ofFolder: scratch.path("second")))
    }
}

/// A network with its size hard-coded in an operation.
private final class SizedNetwork: Module, ColorizerArchitecture {
    static let architecture = "sized"
    static let requiredMultiple = 4

    let mix = Conv2d(1, 2, kernel: 1)

    init(options: ColorizerOptions = .init()) {
        super.init()
        assignNames()
    }

    func forward(_ lightness: Tensor) -> Tensor {
        let mixed = mix(lightness)
        return lightness.graph.inModule("sized") { mixed * Float(lightness.shape[2]) }
    }
}

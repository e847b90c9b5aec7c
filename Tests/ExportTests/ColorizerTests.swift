import RetintArchitectures
import RetintCheckpoints
import RetintEngine
import RetintExport
import RetintGraph
import RetintLayers
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensorFiles
import RetintTensors
import RetintTestSupport
import Testing

/// The architectures with seeded weights, exported, read back from disk and run.
@Suite struct ColorizerTests {
    static let names = ["eccv16", "siggraph17", "mobile-unet"]

    @Test(arguments: names)
    func float32(_ name: String) throws {
        let export = try Exported(name, ExportOptions(size: 64))
        let found = try #require(try export.model.run(["input": export.lightness])["ab"])
        let expected = try export.expected()
        for (value, wanted) in zip(found.scalars, expected.scalars) {
            #expect(abs(value - wanted) <= 1e-4 + 1e-5 * abs(wanted))
        }
        #expect(expected.scalars.contains { abs($0) > 30 })
    }

    @Test(arguments: names)
    func float16(_ name: String) throws {
        let export = try Exported(
            name, ExportOptions(precision: .float16, target: .iOS16, size: 64))
        let found = try export.model.run(["input": export.lightness])["ab"]
        #expect(try psnr(found, try export.expected()) >= 60)
    }

    @Test(arguments: names)
    func imageInSplitOut(_ name: String) throws {
        let options = ExportOptions(input: .image, output: .split, size: 64)
        let export = try Exported(name, options)
        #expect(export.interface.inputs[0].colorLayout != nil && export.lightnessScale == 2.55)
        #expect(export.interface.colors == .split(a: "output_a", b: "output_b"))
        let picture = export.lightness.scalars.map { $0 * export.lightnessScale }
        let shape = export.lightness.shape
        let found = try export.model.run(["input": TensorData(shape: shape, scalars: picture)])
        let expected = try export.expected().scalars
        let (a, b) = try (#require(found["output_a"]), #require(found["output_b"]))
        let joint = TensorData(shape: [1, 2, 64, 64], scalars: a.scalars + b.scalars)
        let wanted = TensorData(shape: joint.shape, scalars: expected)
        #expect(try distance(joint, wanted) <= 1e-3)
    }

    @Test func countsOperations() throws {
        #expect(try Exported("eccv16", ExportOptions(size: 64)).summary.operationCount <= 58)
        let half = ExportOptions(precision: .float16, size: 64)
        #expect(try Exported("eccv16", half).summary.operationCount <= 60)
        #expect(try Exported("siggraph17", ExportOptions(size: 64)).summary.operationCount <= 80)
    }
}

/// A seeded network of a quarter of the width, its package and the graph raised from the package.
struct Exported {
    let checkpoint: Checkpoint
    let summary: ExportSummary
    let package: MLPackage
    let model: RaisedModel
    let interface: ModelInterface
    let lightnessScale: Float
    let lightness: TensorData

    init(_ name: String, _ options: ExportOptions) throws {
        checkpoint = try Self.colorful(
            try Checkpoint(.named(name, .init(width: 0.25)), seed: 5))
        let scratch = try TemporaryFolder()
        let path = scratch.path("model.mlpackage")
        summary = try checkpoint.export(to: path, options: options)
        package = try MLPackage(contentsOf: path)
        let raised = try RaisedPackage(package)
        (model, interface) = (raised.model, raised.interface)
        lightnessScale = raised.lightnessScale
        lightness = Self.lightness([1, 1, options.height, options.width])
    }

    /// The output of the checkpoint's network.
    func expected() throws -> TensorData { try Self.ab(checkpoint, lightness) }

    private static func ab(_ checkpoint: Checkpoint, _ lightness: TensorData) throws -> TensorData {
        let graph = Graph(mode: .inference)
        let colorizer = try checkpoint.network.make()
        let ab = colorizer.forward(graph.input("L", lightness.shape))
        return try ab.evaluate(inputs: ["L": lightness], variables: checkpoint.variables)
    }

    /// The outputs of untrained networks are almost gray, which hides errors. So the last layer is
    /// scaled to give colors of about ±60.
    private static func colorful(_ checkpoint: Checkpoint) throws -> Checkpoint {
        var checkpoint = checkpoint
        let colors = try ab(checkpoint, lightness([1, 1, 32, 32]))
        let factor = 60 / (colors.scalars.map(abs).max() ?? 1)
        for layer in ["model_out", "model_out.0", "head.0"] {
            for name in ["\(layer).weight", "\(layer).bias"] {
                guard let tensor = checkpoint.state[name], let values = tensor.floats else {
                    continue
                }
                checkpoint.state[name] = StoredTensor(
                    shape: tensor.shape, floats: values.map { $0 * factor })
            }
        }
        return checkpoint
    }

    private static func lightness(_ shape: Shape) -> TensorData {
        TensorData(shape: shape, scalars: numbers(shape).scalars.map { ($0 + 1) * 50 })
    }
}

import Foundation
import RetintCheckpoints
import RetintExport
import RetintMLPackage
import RetintRuntime
import Testing

/// What goes into models of all kinds, and what comes out.
@Suite struct ModelInterfaceTests {
    typealias Value = ModelInterface.Value
    typealias Extent = ModelInterface.Extent

    /// A model, and the interface that it has to state.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let model: @Sendable () throws -> Model
        let expected: ModelInterface
        var isColorizer = true
        var batchSize: Int? = 1
    }

    private static let pixels = ModelInterface.Scaling(scale: 100 / 255)

    /// An exported network.
    private static func exported(
        _ name: String, _ options: ExportOptions, input: Value, outputs: [Value]
    ) -> Case {
        Case(
            testDescription: name,
            model: {
                let checkpoint = try Checkpoint(.named("pico-unet"), seed: 1)
                return Model(try checkpoint.package(options))
            }, expected: ModelInterface(inputs: [input], outputs: outputs))
    }

    private static func value(
        _ name: String, _ role: ModelInterface.Role, _ shape: [Int?],
        _ flexibility: ModelInterface.Flexibility = .fixed, isImage: Bool = false,
        scaling: ModelInterface.Scaling = .identity
    ) -> Value {
        Value(
            name: name, role: role, shapes: .init(shape, flexibility), elementType: .float32,
            colorLayout: isImage ? .grayscale : nil, scaling: scaling)
    }

    private static let checkpoint = Case(
        testDescription: "a checkpoint",
        model: { Model(try Checkpoint(.named("pico-unet"), seed: 1)) },
        expected: ModelInterface(
            inputs: [
                value(
                    "lightness", .lightness, [1, 1, 256, 256],
                    .ranges(extents: [
                        Extent(from: 1, to: nil), Extent(1), Extent(multiplesOf: 32),
                        Extent(multiplesOf: 32),
                    ]))
            ],
            outputs: [
                value(
                    "ab", .ab, [1, 2, 256, 256],
                    .ranges(extents: [
                        Extent(from: 1, to: nil), Extent(2), Extent(multiplesOf: 32),
                        Extent(multiplesOf: 32),
                    ]))
            ]))

    private static let tensor = exported(
        "a tensor", ExportOptions(size: 64), input: value("input", .lightness, [1, 1, 64, 64]),
        outputs: [value("ab", .ab, [1, 2, 64, 64])])

    private static let image = exported(
        "an image, split outputs", ExportOptions(input: .image, output: .split, size: 64),
        input: value("input", .lightness, [1, 1, 64, 64], isImage: true, scaling: pixels),
        outputs: [
            value("output_a", .a, [1, 1, 64, 64]), value("output_b", .b, [1, 1, 64, 64]),
        ])

    private static var outside: Case {
        var options = ExportOptions(size: 64)
        options.normalization = .outside
        return exported(
            "normalized outside", options,
            input: value(
                "input", .lightness, [1, 1, 64, 64], scaling: .init(scale: 100, bias: 50)),
            outputs: [value("ab", .ab, [1, 2, 64, 64], scaling: .init(scale: 110))])
    }

    private static var scaledImage: Case {
        var options = ExportOptions(input: .image, size: 64)
        (options.normalization, options.imageScaling) = (.outside, .init(scale: 0.5, bias: -0.25))
        return exported(
            "an image with a scaling", options,
            input: value(
                "input", .lightness, [1, 1, 64, 64], isImage: true,
                scaling: .init(scale: 50, bias: 25)),
            outputs: [value("ab", .ab, [1, 2, 64, 64], scaling: .init(scale: 110))])
    }

    private static var enumerated: Case {
        var options = ExportOptions(size: 64)
        options.flexibility = .enumerated([.init(width: 96, height: 32)])
        return exported(
            "enumerated sizes", options,
            input: value(
                "input", .lightness, [1, 1, 64, 64],
                .enumerated(shapes: [[1, 1, 64, 64], [1, 1, 32, 96]])),
            outputs: [value("ab", .ab, [1, 2, nil, nil])])
    }

    private static func ranged(_ input: ExportOptions.Input) -> Case {
        var options = ExportOptions(input: input, size: 64)
        options.flexibility = .range(from: .init(32), to: .init(128))
        let side = Extent(from: 32, to: 128, multiple: 32)
        return exported(
            "a range of sizes, \(input)", options,
            input: value(
                "input", .lightness, [1, 1, 64, 64],
                .ranges(extents: [Extent(1), Extent(1), side, side]), isImage: input == .image,
                scaling: input == .image ? pixels : .identity),
            outputs: [value("ab", .ab, [1, 2, nil, nil])])
    }

    /// A network of another kind: a photo and a number go in, and a row of numbers comes out.
    private static let foreign = Case(
        testDescription: "two inputs without roles", model: { Model(try foreignPackage()) },
        expected: ModelInterface(
            inputs: [
                Value(
                    name: "photo", shapes: .init([1, 3, 8, 8]), elementType: .float32,
                    colorLayout: .bgr),
                Value(name: "strength", shapes: .init([1, 3, 1, 1]), elementType: .float32),
            ],
            outputs: [Value(name: "scaled", shapes: .init([1, 3, 8, 8]), elementType: .float32)]),
        isColorizer: false)

    private static func foreignPackage() throws -> MLPackage {
        var builder = MILProgramBuilder()
        let photo = builder.input("photo", MILTensorType(.float32, [1, 3, 8, 8]))
        let strength = builder.input("strength", MILTensorType(.float32, [1, 3, 1, 1]))
        let product = builder.operation(
            "mul", ["x": .name(photo), "y": .name(strength)], name: "mul",
            type: MILTensorType(.float32, [1, 3, 8, 8]))
        try builder.output(product, as: "scaled")
        func array(_ name: String, _ shape: [Int]) -> Feature {
            Feature(name, .multiArray(ArrayFeature(.float32, shape)))
        }
        let image = ImageFeature(width: 8, height: 8, colorSpace: .bgr)
        return MLPackage(
            target: .iOS15,
            description: ModelDescription(
                inputs: [Feature("photo", .image(image)), array("strength", [1, 3, 1, 1])],
                outputs: [array("scaled", [1, 3, 8, 8])]),
            program: builder.program)
    }

    static let cases = [
        checkpoint, tensor, image, outside, scaledImage, enumerated, ranged(.tensor),
        ranged(.image), foreign,
    ]

    @Test(arguments: cases) func modelsStateTheirInterface(_ known: Case) throws {
        let model = try known.model()
        let interface = try model.interface
        #expect(interface == known.expected)
        #expect(interface.isColorizer == known.isColorizer)
        #expect(try model.batchSize == known.batchSize)
    }

    /// What is found from the file alone is what running it shows.
    @Test(arguments: cases) func runningChangesNoRole(_ known: Case) throws {
        let model = try known.model()
        #expect(try model.graph().interface == model.interface)
    }

    @Test(arguments: cases) func interfacesSurviveJSON(_ known: Case) throws {
        let bytes = try JSONEncoder().encode(known.expected)
        #expect(try JSONDecoder().decode(ModelInterface.self, from: bytes) == known.expected)
    }

    @Test func onlyNetworksAreFreeToFollowAPhoto() throws {
        let multiples = try Self.cases.map { try $0.model().requiredMultiple }
        #expect(multiples == [32] + [Int?](repeating: nil, count: 8))
    }

    @Test func anotherNetworkIsRefusedByColoringAlone() throws {
        let model = try Self.foreign.model()
        let error = #expect(throws: ModelError.self) { try model.preferredSize() }
        #expect(
            error?.problem
                == "takes photo [1, 3, 8, 8], strength [1, 3, 1, 1]; a colorizer takes one channel "
                + "of lightness")
        #expect(throws: ModelError.self) { try model.program() }
    }

    @Test func damagedMetadataIsNamed() throws {
        var package = try Checkpoint(.named("pico-unet"), seed: 1)
            .package(ExportOptions(size: 64))
        package.metadata.userDefined["retint.normalization"] = "sideways"
        let error = #expect(throws: ModelError.self) { try Model(package).interface }
        #expect(error?.kind == .notRunnable)
        #expect(error?.problem.contains("metadata retint.normalization") == true)
    }
}

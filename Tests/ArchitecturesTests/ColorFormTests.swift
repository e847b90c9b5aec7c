import Foundation
import RetintCheckpoints
import RetintGraph
import RetintONNXReading
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintArchitectures

/// What imported networks take and return, against scikit-image's conversions.
@Suite struct ColorFormTests {
    private struct Golden: Decodable {
        let lightness, gray: [Float]
        let colors, ab: [[Float]]
    }

    private let golden: Golden
    private let scratch: TemporaryFolder

    init() throws {
        golden = try decodeGolden("forms.json")
        scratch = try TemporaryFolder()
    }

    /// A network that is one convolution of 1 × 1.
    private func file(_ kernel: [[Float]], bias: [Float]? = nil) throws -> String {
        let dimensions: [ONNXValueInfo.Dimension] = [
            .symbolic("n"), .fixed(kernel[0].count), .symbolic("h"), .symbolic("w"),
        ]
        var initializers = [
            "k": ONNXTensor(
                floats: kernel.flatMap(\.self), dimensions: [kernel.count, kernel[0].count, 1, 1])
        ]
        if let bias { initializers["b"] = ONNXTensor(floats: bias, dimensions: [bias.count]) }
        let model = ONNXModel(
            opset: 17, producer: "test", metadata: [:],
            inputs: [ONNXValueInfo(name: "x", type: .float, dimensions: dimensions)],
            outputs: [ONNXValueInfo(name: "y", type: .float, dimensions: nil)],
            nodes: [ONNXNode("Conv", ["x", "k"] + (bias == nil ? [] : ["b"]), ["y"])],
            initializers: initializers)
        let path = scratch.path("\(UUID().uuidString).onnx")
        try Data(try model.bytes()).write(to: URL(filePath: path))
        return path
    }

    private func colors(_ checkpoint: Checkpoint, of lightness: [Float]) throws -> [[Float]] {
        let input = TensorData(shape: [1, 1, 1, lightness.count], scalars: lightness)
        let ab = try checkpoint.colors(of: input).scalars
        return lightness.indices.map { [ab[$0], ab[lightness.count + $0]] }
    }

    private func expectNear(
        _ values: [Float], _ expected: [Float], _ bound: Float,
        location: SourceLocation = #_sourceLocation
    ) {
        #expect(values.count == expected.count, sourceLocation: location)
        for (value, wanted) in zip(values, expected) {
            #expect(abs(value - wanted) <= bound, "\(values)", sourceLocation: location)
        }
    }

    /// Red becomes a, blue becomes b.
    private static let redAndBlue: [[Float]] = [[1, 0, 0], [0, 0, 1]]

    struct Range: CustomTestStringConvertible {
        let text: String
        let red, blue: @Sendable (Float) -> Float
        var testDescription: String { text }
    }

    static let ranges = [
        Range(text: "0..1", red: { $0 }, blue: { $0 }),
        Range(text: "0..255", red: { 255 * $0 }, blue: { 255 * $0 }),
        Range(text: "-1..1", red: { 2 * $0 - 1 }, blue: { 2 * $0 - 1 }),
        Range(
            text: "imagenet", red: { ($0 - 0.485) / 0.229 }, blue: { ($0 - 0.406) / 0.225 }),
    ]

    @Test(arguments: ranges) func grayPhotosGoIn(_ range: Range) throws {
        let form = ColorForm(input: .grayRGB, inputRange: ValueRange(range.text))
        let checkpoint = try Checkpoint.importing(
            onnx: file(Self.redAndBlue), form: ColorFormChoice(form)
        )
        .checkpoint
        let found = try colors(checkpoint, of: golden.lightness)
        let bound: Float = range.text == "0..255" ? 0.01 : 5e-5
        expectNear(found.map { $0[0] }, golden.gray.map(range.red), bound)
        expectNear(found.map { $0[1] }, golden.gray.map(range.blue), bound)
    }

    @Test(arguments: ["0..1", "0..255", "-1..1"]) func photosComeOut(_ text: String) throws {
        for (color, expected) in zip(golden.colors, golden.ab) {
            let stored = color.map { share in
                switch text {
                case "0..255": 255 * share
                case "-1..1": 2 * share - 1
                default: share
                }
            }
            let form = ColorForm(colors: .rgb, colorRange: ValueRange(text))
            let path = try file([[0], [0], [0]], bias: stored)
            let checkpoint = try Checkpoint.importing(onnx: path, form: ColorFormChoice(form))
                .checkpoint
            expectNear(try colors(checkpoint, of: [50])[0], expected, 0.02)
        }
    }

    @Test func labComesOut() throws {
        let path = try file([[0], [0.5], [-0.25]])
        let form = ColorForm(colors: .lab, colorRange: .signed)
        let checkpoint = try Checkpoint.importing(onnx: path, form: ColorFormChoice(form))
            .checkpoint
        expectNear(try colors(checkpoint, of: [1])[0], [55, -27.5], 1e-4)
    }

    @Test func theFormIsKept() throws {
        let form = ColorForm(
            input: .grayRGB, inputRange: .imageNet, colors: .ab, colorRange: .signed)
        let checkpoint = try Checkpoint.importing(
            onnx: file(Self.redAndBlue), form: ColorFormChoice(form)
        )
        .checkpoint
        let path = scratch.path("form.h5")
        try checkpoint.write(to: path)
        let read = try Checkpoint(contentsOf: path)
        #expect(read.network.definition?.form == form && read == checkpoint)
        #expect("\(form)" == "gray-rgb imagenet ab -1..1")
    }

    /// What a file does not state follows from its channels, which is said.
    @Test func theFormIsAssumed() throws {
        let (ab, notes) = try Checkpoint.importing(onnx: file(Self.redAndBlue))
        #expect(ab.network.definition?.form == ColorForm(input: .grayRGB))
        #expect(notes.contains { $0.contains("gray-rgb 0..1 ab -110..110") })
        let photo = try Checkpoint.importing(
            onnx: file([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
        ).checkpoint
        #expect(photo.network.definition?.form == ColorForm(input: .grayRGB, colors: .rgb))
        let lightness = try Checkpoint.importing(onnx: file([[1], [0.5], [0.25]])).checkpoint
        #expect(lightness.network.definition?.form == ColorForm(input: .lightness, colors: .rgb))
    }

    /// What is stated replaces what is assumed, and nothing else.
    @Test func aRangeAloneIsStated() throws {
        var choice = ColorFormChoice()
        choice.colorRange = .signed
        let read = try Checkpoint.importing(onnx: file(Self.redAndBlue), form: choice)
        #expect(
            read.checkpoint.network.definition?.form
                == ColorForm(input: .grayRGB, colorRange: .signed))
        let photo = try Checkpoint.importing(
            onnx: file([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), form: choice)
        #expect(
            photo.checkpoint.network.definition?.form
                == ColorForm(input: .grayRGB, colors: .rgb, colorRange: .signed))
    }

    @Test(arguments: [
        "lightness 0..100 ab", "gray 0..1 ab -1..1", "lightness imagenet ab -1..1",
        "gray-rgb 0..1 ab imagenet", "gray-rgb 1..1 ab -1..1", "gray-rgb 0..nan ab -1..1", "",
        "gray-rgb 0..1e39 ab -1..1", "gray-rgb 0-1 ab -1..1", "gray-rgb 0...255 ab -1..1",
    ]) func otherTextsAreNoForms(_ text: String) {
        #expect(ColorForm(text) == nil)
    }
}

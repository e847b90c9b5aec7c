import RetintAIModel
import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensors
import RetintTestSupport
import Testing

/// Programs that Apple's coreai-core wrote are read and give what its runtime computed.
@Suite struct GoldenTests {
    struct Tensor: Decodable {
        let shape: [Int]
        let values: [Float]

        var data: TensorData { TensorData(shape: Shape(shape), scalars: values) }
    }

    struct Program: Decodable {
        let input: Tensor
        let outputs: [String: Tensor]
    }

    static let names = [
        "elementwise", "half", "images", "invoked", "layout", "quantized", "weights",
    ]

    @Test(arguments: names) func resultsAreThoseOfTheRuntime(name: String) throws {
        let expected: [String: Program] = try decodeGolden("expected.json")
        let program = try #require(expected[name])
        let package = try MLPackage(contentsOfAIModel: goldenPath("\(name).aimodel"))
        let model = try raise(package)
        let found = try model.run([package.program.inputs[0].name: program.input.data])
        #expect(found.count == program.outputs.count)
        let tolerance: Float = name == "half" ? 2e-3 : 2e-5
        for (output, tensor) in program.outputs {
            let largest = tensor.values.map(abs).max() ?? 0
            let error = try distance(found[output], tensor.data)
            #expect(error <= tolerance * max(1, largest), "\(output)")
        }
    }

    /// What was read is written, and read again, as the same program.
    @Test(arguments: names) func whatWasReadCanBeWritten(name: String) throws {
        let package = try MLPackage(contentsOfAIModel: goldenPath("\(name).aimodel"))
        let scratch = try TemporaryFolder()
        let path = scratch.path("again.aimodel")
        try package.writeAIModel(to: path)
        let again = try MLPackage(contentsOfAIModel: path)
        #expect(again.program.inputs == package.program.inputs)
        #expect(again.program.outputs == package.program.outputs)
        let feed = numbers(Shape(package.program.inputs[0].type.shape ?? []))
        let input = [package.program.inputs[0].name: feed]
        let (first, second) = try (raise(package).run(input), raise(again).run(input))
        for (output, tensor) in first {
            let largest = tensor.scalars.map(abs).max() ?? 0
            #expect(try distance(second[output], tensor) <= 1e-5 * max(1, largest), "\(output)")
        }
    }
}

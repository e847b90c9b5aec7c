import RetintGraph
import RetintTensors
import Testing

@testable import RetintEngine

/// A pointwise convolution of an enlarged image and others gives the same, but for rounding, if the
/// image is multiplied before it is enlarged.
@Suite struct EnlargedProductTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var batch = 1
        var size = Pair(6, 5)
        var factor = Pair(2)
        var alignCorners = false
        /// Channels of the images side by side; the enlarged one is at `enlarged`.
        var channels = [24, 20]
        var enlarged = 0
        var outputs = 48
        var depthwise = false
        var threads = 2
        var testDescription: String {
            "\(batch)×\(size)·\(factor) \(channels) enlarged \(enlarged) to \(outputs) align "
                + "\(alignCorners) depthwise \(depthwise) threads \(threads)"
        }
    }

    static let cases: [Case] = [
        Case(), Case(enlarged: 1), Case(batch: 3, channels: [7, 17, 40], enlarged: 1),
        Case(alignCorners: true), Case(factor: Pair(3, 2)), Case(threads: 1),
        Case(size: Pair(4, 4), channels: [160, 96], outputs: 512, threads: 3),
        // So large that rows are passed on to the next convolution.
        Case(size: Pair(33, 32), channels: [32, 16], outputs: 96, depthwise: true),
        Case(batch: 2, size: Pair(20, 32), channels: [32, 16], outputs: 80, depthwise: true),
    ]

    /// Products that cannot be added to: the small one is enlarged by itself.
    static let fewOutputs = [
        Case(outputs: 2), Case(batch: 2, channels: [3, 40], enlarged: 1, outputs: 5),
    ]

    @Test(arguments: cases)
    func equalsTheProductOfTheEnlargedImage(_ example: Case) throws {
        let (plain, plainSteps) = try run(example, isFixed: false)
        let (exchanged, steps) = try run(example, isFixed: true)
        #expect(plainSteps.contains("concat"))
        #expect(!steps.contains { $0.contains("upsample") })
        #expect(error(exchanged, plain) <= 1e-12)
    }

    @Test(arguments: fewOutputs)
    func equalsTheProductOfTheEnlargedImageOfFewOutputs(_ example: Case) throws {
        let plain = try run(example, isFixed: false).result
        let (exchanged, steps) = try run(example, isFixed: true)
        #expect(!steps.contains("concat") && steps.contains { $0.contains("upsample") })
        #expect(error(exchanged, plain) <= 1e-12)
    }

    /// More channels than the image has, and images with so few channels that nothing would be
    /// gained.
    @Test(arguments: [Case(outputs: 40), Case(channels: [8, 20])])
    func othersStayAsTheyAre(_ example: Case) throws {
        let steps = try run(example, isFixed: true).steps
        #expect(steps.contains("concat") && steps.contains { $0.contains("upsample") })
    }

    private func error(_ found: TensorData, _ expected: TensorData) -> Double {
        normalizedError(found.scalars, expected.scalars.map(Double.init))
    }

    /// Weights that are inputs could change from run to run: the images stay side by side.
    private func run(
        _ example: Case, isFixed: Bool
    ) throws -> (result: TensorData, steps: [String]) {
        let graph = Graph()
        var inputs: [String: TensorData] = [:]
        let images = example.channels.enumerated().map { index, channels in
            let isSmall = index == example.enlarged
            let (size, factor) = (example.size, isSmall ? Pair(1) : example.factor)
            let shape: Shape = [
                example.batch, channels, size.height * factor.height, size.width * factor.width,
            ]
            let x = graph.input("x\(index)", shape)
            inputs["x\(index)"] = numbers(shape)
            return isSmall
                ? upsampleBilinear(x, factor: example.factor, alignCorners: example.alignCorners)
                : x
        }
        let shape: Shape = [example.outputs, example.channels.reduce(0, +), 1, 1]
        let weight =
            isFixed
            ? graph.variable("weight", shape, role: .parameter) : graph.input("weight", shape)
        let bias = graph.variable("bias", [example.outputs], role: .parameter)
        if !isFixed { inputs["weight"] = numbers(shape) }
        var y = relu(conv2d(concat(images, axis: 1), weight: weight, bias: bias))
        if example.depthwise {
            let kernel = graph.variable("kernel", [example.outputs, 1, 3, 3], role: .parameter)
            y = conv2d(y, weight: kernel, padding: Padding(1), groups: example.outputs)
        }
        let program = try Program(
            outputs: [("y", y)], options: CompileOptions(threads: example.threads))
        try program.load(
            Dictionary(
                uniqueKeysWithValues: program.variableShapes.map { ($0.name, numbers($0.shape)) }))
        return (try #require(try program.run(inputs)["y"]), program.stepNames)
    }

    private func numbers(_ shape: Shape) -> TensorData {
        TensorData(
            shape: shape, scalars: (0..<shape.count).map { Float($0 * 7919 % 997) / 997 - 0.45 })
    }
}

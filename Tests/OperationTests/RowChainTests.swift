import RetintGraph
import RetintTensors
import Testing

@testable import RetintEngine

/// Convolutions that pass rows on give the same bits as those that wait for each other.
@Suite struct RowChainTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var batch = 2
        var size = Pair(40, 36)
        /// Expansion, depthwise convolution, projection: all large enough to be passed on.
        var channels = (16, 48, 32)
        var kernel = 3
        var stride = 1
        var dilation = 1
        var expands = true
        var residual = false
        var activation = Activation.relu
        var threads = 2
        var testDescription: String {
            "\(batch)×\(size) \(channels) kernel \(kernel) stride \(stride) dilation \(dilation) "
                + "expands \(expands) residual \(residual) \(activation) threads \(threads)"
        }
    }

    /// Between the convolutions: work that they do while they store, and work after that.
    enum Activation: Sendable {
        case relu, gelu, scaledGelu, gated

        func callAsFunction(_ x: Tensor, _ name: String) -> Tensor {
            let graph = x.graph
            return switch self {
            case .relu: RetintGraph.relu(x)
            case .gelu: RetintGraph.gelu(x)
            case .scaledGelu:
                RetintGraph.gelu(x)
                    * graph.variable(name, [1, x.shape[1], 1, 1], role: .parameter)
            case .gated:
                tanh(x) * sigmoid(graph.variable(name, x.shape, role: .parameter))
            }
        }
    }

    static let cases: [Case] = [
        Case(), Case(dilation: 2), Case(kernel: 5), Case(channels: (16, 192, 32), stride: 2),
        Case(channels: (16, 192, 32), kernel: 5, stride: 2),
        Case(threads: 1), Case(threads: 5), Case(batch: 1), Case(batch: 3, threads: 2),
        Case(channels: (16, 48, 16), residual: true), Case(expands: false),
        // Rows so wide that a window is but as high as the kernel.
        Case(batch: 1, size: Pair(33, 300), channels: (16, 320, 16)),
        // More rows kept than there are.
        Case(batch: 9, size: Pair(5, 9), channels: (32, 512, 32), stride: 2),
        // Only the kernel's edge is left of the last rows.
        Case(batch: 64, size: Pair(3, 7), channels: (32, 64, 32), dilation: 3),
        // Results that are finished in the next one's rows.
        Case(activation: .gelu), Case(kernel: 5, activation: .gelu, threads: 3),
        Case(channels: (16, 192, 32), stride: 2, activation: .scaledGelu),
        Case(channels: (16, 48, 48), expands: false, residual: true, activation: .gated),
        Case(activation: .gated),
        Case(batch: 64, size: Pair(3, 7), channels: (32, 64, 32), activation: .gelu),
    ]

    /// Where many rows of a result would be computed twice, the next one waits for all of them.
    @Test func fewRowsAreNotPassedOn() throws {
        let steps = {
            try self.run(Case(batch: 1, size: Pair($0, 64), kernel: 9), chains: true).steps
        }
        #expect(try steps(127).contains("conv2d_panels"))
        #expect(try !steps(128).contains("conv2d_panels"))
    }

    @Test(arguments: cases)
    func equalsSteps(_ example: Case) throws {
        let (whole, wholeSteps) = try run(example, chains: false)
        let (passed, steps) = try run(example, chains: true)
        #expect(!wholeSteps.contains { $0.contains("+conv2d") })
        #expect(
            steps.last
                == (example.expands ? "conv2d_panels+" : "") + "conv2d_depthwise+conv2d_panels")
        #expect(passed.scalars == whole.scalars)
        #expect(passed.scalars.contains { $0 != 0 })
    }

    /// Small results are passed on by channels.
    @Test(
        arguments: [
            Case(batch: 1, size: Pair(8, 8), channels: (64, 384, 64)),
            Case(batch: 1, size: Pair(8, 8), channels: (24, 144, 24), stride: 2),
            Case(batch: 2, size: Pair(7, 5), channels: (32, 192, 32), kernel: 5),
            Case(batch: 1, size: Pair(8, 8), channels: (64, 384, 64), threads: 1),
            Case(batch: 1, size: Pair(4, 4), channels: (96, 576, 96), dilation: 2, threads: 3),
            // Rows shared by the threads, since there are more threads than panels.
            Case(batch: 1, size: Pair(9, 9), channels: (16, 48, 16), threads: 7),
        ])
    func channelsArePassedOn(_ example: Case) throws {
        let (whole, wholeSteps) = try run(example, chains: false)
        let (passed, steps) = try run(example, chains: true)
        #expect(!wholeSteps.contains { $0.contains("+") })
        #expect(steps == ["conv2d_panels+conv2d_depthwise", "conv2d_panels"])
        #expect(passed.scalars == whole.scalars)
        #expect(passed.scalars.contains { $0 != 0 })
    }

    /// Channels that fill no slices of the depthwise convolution wait for each other.
    @Test func channelsAreWholeSlices() throws {
        let example = Case(batch: 1, size: Pair(8, 8), channels: (64, 200, 64))
        #expect(try run(example, chains: true).steps.contains("conv2d_depthwise"))
    }

    /// A distribution over bins and its mean: 313 logits of a pixel fill no vectors.
    @Test(arguments: [Pair(33, 31), Pair(5, 200)], [1, 2, 3])
    func distributionsAreNotKept(_ size: Pair, _ threads: Int) throws {
        func run(keeping: Bool) throws -> (TensorData, [String]) {
            let graph = Graph()
            func weight(_ name: String, _ shape: Shape) -> Tensor {
                graph.variable(name, shape, role: .parameter)
            }
            let x = graph.input("x", [2, 24, size.height, size.width])
            let logits =
                conv2d(
                    x, weight: weight("classes", [313, 24, 1, 1]), bias: weight("bias", [313]))
                * (1 / 0.38)
            let shares = softmax(logits, axis: 1)
            let mean = conv2d(shares, weight: weight("mean", [2, 313, 1, 1])) * 110
            let between = keeping ? [("logits", logits), ("shares", shares)] : []
            return try outcome(of: [("y", mean)] + between, feeding: x, threads: threads)
        }
        let (whole, steps) = try run(keeping: true)
        let (passed, chain) = try run(keeping: false)
        #expect(steps.suffix(3) == ["conv2d_panels", "softmax", "conv2d_few_outputs"])
        #expect(chain.last == "conv2d_panels+softmax+conv2d_few_outputs")
        #expect(passed.scalars == whole.scalars)
        #expect(Set(passed.scalars).count > 100)
    }

    /// Runs expansion, depthwise convolution and projection, either kept apart by reading what lies
    /// between them.
    private func run(
        _ example: Case, chains: Bool
    ) throws -> (result: TensorData, steps: [String]) {
        let graph = Graph()
        let (first, middle, last) = example.channels
        let x = graph.input(
            "x",
            [
                example.batch, example.expands ? first : middle, example.size.height,
                example.size.width,
            ])
        var between: [Tensor] = []
        var y = x
        if example.expands {
            let weight = graph.variable("expand", [middle, first, 1, 1], role: .parameter)
            y = example.activation(conv2d(y, weight: weight), "expanded")
            between.append(y)
        }
        let kernel = graph.variable(
            "depthwise", [middle, 1, example.kernel, example.kernel], role: .parameter)
        y = example.activation(
            conv2d(
                y, weight: kernel, stride: Pair(example.stride),
                padding: Padding(example.dilation * (example.kernel / 2)),
                dilation: Pair(example.dilation),
                groups: middle), "filtered")
        between.append(y)
        let project = graph.variable("project", [last, middle, 1, 1], role: .parameter)
        y = conv2d(y, weight: project)
        if example.residual { y = y + x }
        return try outcome(
            of: [("y", y)] + (chains ? [] : between.enumerated().map { ("\($0)", $1) }), feeding: x,
            threads: example.threads)
    }

    /// The first of some outputs, and the steps of their program.
    private func outcome(
        of outputs: [(name: String, value: Tensor)], feeding x: Tensor, threads: Int
    ) throws -> (TensorData, [String]) {
        let program = try Program(
            outputs: outputs, options: CompileOptions(threads: threads, winograd: .never))
        try program.load(
            Dictionary(
                uniqueKeysWithValues: program.variableShapes.map { ($0.name, numbers($0.shape)) }))
        let result = try #require(try program.run(["x": numbers(x.shape)])[outputs[0].name])
        return (result, program.stepNames)
    }

    private func numbers(_ shape: Shape) -> TensorData {
        TensorData(
            shape: shape, scalars: (0..<shape.count).map { Float($0 * 7919 % 997) / 997 - 0.45 })
    }
}

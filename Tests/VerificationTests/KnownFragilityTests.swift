import RetintGraph
import RetintMLPackage
import RetintTensors
import Testing

@testable import RetintVerification

/// Networks that computed wrong numbers on a device or in a framework, each with the public report:
/// the operation to blame is among the first three fragile ones, although operations of a dozen
/// other kinds compute another output.
@Suite struct KnownFragilityTests {
    struct Case: Sendable, CustomStringConvertible {
        /// What was reported, and where.
        let description: String
        /// The MIL type of the operation to blame.
        let operation: String
        let network: SmallNetwork

        init(
            _ description: String, _ operation: String, in precision: MILDataType = .float16,
            _ shape: Shape, _ input: [Double],
            _ build: @escaping @Sendable (Tensor) -> Tensor
        ) {
            (self.description, self.operation) = (description, operation)
            network = SmallNetwork(
                precision: precision, shape: shape, input: input, hasOther: true, build: build)
        }
    }

    static let cases = [
        Case(
            "softplus drops to 0: exp(x) overflows (coremltools #2687, coreai-torch #21)", "exp",
            [1, 64], scattered(64, -8...14)
        ) { x in log(blamed(in: x.graph) { exp(x) } + 1) * 0.5 },
        Case(
            "logsumexp drops to 0: the sum overflows (coremltools #2690)", "reduce_sum",
            [1, 32, 4], scattered(128, 8...9)
        ) { x in
            let powers = exp(x)
            return log(blamed(in: x.graph) { powers.sum(axes: [1], keepDims: true) }) * 0.5
        },
        Case(
            "log_softmax is -inf: a probability underflows to 0 (coremltools #2728)", "log",
            [1, 8], [0, 0, 0, 50, 0, 0, 0, 0]
        ) { x in
            let shares = softmax(x, axis: 1)
            return blamed(in: x.graph) { log(shares) } * 0.5
        },
        Case(
            "RMS norm is 0: x² overflows (coremltools #2585, executorch #19523)", "mul",
            [1, 64], scattered(64, -600...600)
        ) { x in
            let squares = blamed(in: x.graph) { x * x }
            return x / sqrt(squares.mean(axes: [1], keepDims: true) + 1e-5)
        },
        Case(
            "RMS norm: the sum of squares overflows (nntrainer #3935)", "reduce_mean",
            [1, 2048], scattered(2048, -60...60)
        ) { x in
            let squares: Tensor = x * x
            let mean = blamed(in: x.graph) { squares.mean(axes: [1], keepDims: true) }
            return x / sqrt(mean + 1e-5)
        },
        Case(
            "instance norm is 0: the variance overflows (mlx #4228)", "mul",
            [1, 2, 8, 8], [Double](repeating: 512, count: 32) + [Double](repeating: -512, count: 96)
        ) { x in
            let centered = x - x.mean(axes: [2, 3], keepDims: true)
            let squares = blamed(in: x.graph) { centered * centered }
            let variance = squares.mean(axes: [2, 3], keepDims: true)
            return centered / sqrt(variance + 1e-5)
        },
        Case(
            "a sum of 32,768 ones stalls at 2,048 (cactus #344, mlx #3488)", "reduce_sum",
            [1, 32_768], [Double](repeating: 1, count: 32_768)
        ) { x in blamed(in: x.graph) { x.sum(axes: [1], keepDims: true) } * 0.25 },
        Case(
            "attention is NaN: q·k overflows before it is scaled (metal-flash-attention #8, "
                + "ultralytics #24990)", "matmul",
            [1, 4, 64], scattered(256, 30...45)
        ) { x in
            let scores = blamed(in: x.graph) { matmul(x, x, transposeY: true) } * 0.125
            return matmul(softmax(scores, axis: -1), x) * 0.5
        },
        Case(
            "0 / 0: an epsilon of 1e-6 underflows (executorch #19523, openvino #8676)", "real_div",
            [4, 16], [Double](repeating: 0, count: 16) + scattered(48, -1...1)
        ) { x in
            let norm = sqrt((x * x).sum(axes: [1], keepDims: true))
            let guarded: Tensor = norm + 1e-6
            return blamed(in: x.graph) { x / guarded } * 0.5
        },
        Case(
            "layer norm of a large mean: E[x²] − E[x]² cancels, in float32 (burn #5607)", "sub",
            in: .float32, [1, 16], Array(stride(from: 1000, to: 1000.0155, by: 1e-3))
        ) { x in
            let mean: Tensor = x.mean(axes: [1], keepDims: true)
            let squares: Tensor = (x * x).mean(axes: [1], keepDims: true)
            let product: Tensor = mean * mean
            let variance = blamed(in: x.graph) { squares - product }
            return (x - mean) / sqrt(abs(variance) + 1e-5)
        },
        Case(
            "GELU's tail is 0: 1 + tanh(u) cancels (tt-metal #56517)", "add",
            [1, 64], scattered(64, -4.5 ... -3)
        ) { x in
            let cubed: Tensor = x * x * x
            let inner: Tensor = (x + cubed * 0.044_715) * 0.797_884_6
            let tail = tanh(inner)
            return x * 0.5 * blamed(in: x.graph) { tail + 1 }
        },
    ]

    @Test(arguments: cases) func theOperationIsAmongTheFirstThree(_ known: Case) throws {
        let survey = try known.network.survey()
        let rank = try #require(
            survey.fragile.firstIndex { $0.name.hasPrefix("blamed") }, "\(survey.fragile)")
        #expect(survey.fragile[rank].operation == known.operation)
        #expect(rank < 3, "\(survey.fragile)")
        #expect(survey.fragile[rank].lostDigits >= 0.3)
        let format = known.network.precision == .float16 ? 3.32 : 7.23
        #expect(survey.fragile.allSatisfy { $0.operandDigits <= format })
        #expect(survey.passing.passed < survey.passing.count)
    }

    private static let stable = [
        SmallNetwork(precision: .float16, shape: [1, 64], input: scattered(64, -8...14)) {
            relu($0) + log(exp(-abs($0)) + 1)
        },
        SmallNetwork(precision: .float16, shape: [1, 64], input: scattered(64, -600...600)) {
            let scaled: Tensor = $0 * 0.001
            let mean = (scaled * scaled).mean(axes: [1], keepDims: true)
            return scaled / sqrt(mean + 1e-5)
        },
    ]

    /// Stable forms of the same functions lose no digits to speak of.
    @Test(arguments: stable.indices) func stableFormsSurvive(_ index: Int) throws {
        let survey = try Self.stable[index].survey()
        #expect(survey.passing.passed == survey.passing.count)
        #expect(survey.outputs[0].digits > 2.5 && survey.outputs[0].nonFinite == 0)
        #expect(survey.fragile.allSatisfy { $0.outputDigits > 2 })
    }
}

/// Has the name of the operation to blame begin with `blamed`.
private func blamed(in graph: Graph, _ operation: () -> Tensor) -> Tensor {
    graph.inModule("blamed", operation)
}

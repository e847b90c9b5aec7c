import RetintFloat64
import RetintGraph
import RetintOperationCases
import RetintTensors
import Testing

@testable import RetintEngine

/// Formulas that the engine's passes replace, in the forms that networks have them, against the
/// double-precision reference, which evaluates them as they are written.
@Suite struct FusedFormulasTests {
    /// A formula, and the steps that it must and must not become.
    struct Formula: Sendable, CustomTestStringConvertible {
        let example: OperationCase
        let becomes: [String]
        var not: [String] = []
        var testDescription: String { example.name }
    }

    @Test(arguments: all)
    func equalsTheFormula(_ formula: Formula) throws {
        for threads in [1, 3] {
            let (error, steps) = try run(formula.example, threads: threads)
            #expect(error <= 1e-11, "\(threads) threads: error \(error)")
            let parts = numbered(steps.flatMap { $0.split(separator: "+").map(String.init) })
            #expect(parts.isSuperset(of: formula.becomes), "\(steps)")
            #expect(parts.isDisjoint(with: formula.not), "\(steps)")
        }
    }

    /// The products' code for smaller CPUs.
    @Test(arguments: attentions + products, [4, 8])
    func equalsTheFormulaInNarrowVectors(_ formula: Formula, floats: Int) throws {
        Machine.limitVectors(to: floats)
        defer { Machine.limitVectors(to: 16) }
        #expect(try run(formula.example, threads: 1).error <= 1e-11)
    }

    /// A value that is read from outside is computed.
    @Test func keepsWhatIsAskedFor() throws {
        let graph = Graph()
        let x = graph.input("x", [3, 40])
        let centered = x - x.mean(axes: [1], keepDims: true)
        let y = centered / sqrt((centered * centered).mean(axes: [1], keepDims: true) + 1e-5)
        let program = try Program(outputs: [("y", y), ("centered", centered)])
        let scalars = (0..<120).map { Float($0 % 17) }
        let values = try program.run(["x": TensorData(shape: [3, 40], scalars: scalars)])
        let mean = scalars[40..<80].reduce(0, +) / 40
        let expected = scalars[40] - mean
        #expect(abs(try #require(values["centered"]).scalars[40] - expected) < 1e-5)
        #expect(!program.stepNames.contains { $0.contains("layer_norm") })
    }

    /// The names, and those that are there more than once with a number.
    private func numbered(_ names: [String]) -> Set<String> {
        var counts: [String: Int] = [:]
        return Set(
            names.map { name in
                counts[name, default: 0] += 1
                let count = counts[name] ?? 1
                return count == 1 ? name : "\(name) \(count)"
            })
    }

    private func run(
        _ example: OperationCase, threads: Int
    ) throws -> (error: Double, steps: [String]) {
        let reference = try CaseGraph(example)
        let expected = try Float64Evaluator(inputs: reference.doubleFeeds)
            .evaluate([reference.output])[0].values
        let graph = Graph()
        let inputs = example.inputs.enumerated().map { index, input in
            index < example.inputs.count - example.weights
                ? graph.input("input \(index)", input.shape)
                : graph.variable("input \(index)", input.shape, role: .parameter)
        }
        let program = try Program(
            outputs: [("y", try example.build(inputs))],
            options: CompileOptions(threads: threads))
        let feeds = Dictionary(
            uniqueKeysWithValues: example.inputs.enumerated().map { index, input in
                let name = "input \(index)"
                return (
                    name,
                    TensorData(shape: input.shape, scalars: reference.feeds[name] ?? [])
                )
            })
        try program.load(feeds)
        let names = Set(inputs.indices.dropLast(example.weights).map { "input \($0)" })
        let result = try program.run(feeds.filter { names.contains($0.key) })
        let scalars = try #require(result["y"]).scalars
        return (normalizedError(scalars, expected), program.stepNames)
    }
}

// MARK: Formulas

extension FusedFormulasTests {
    static let all =
        normalizations + attentions + activations + products + convolutions + movements

    static let normalizations: [Formula] = [
        Formula(
            example: OperationCase("layer_norm of rows", [2, 7, 48], [48], [48], weights: 2) {
                normalized($0[0], axes: [-1]) * $0[1] + $0[2]
            }, becomes: ["layer_norm"], not: ["mean", "sqrt", "mul"]),
        Formula(
            example: OperationCase("layer_norm of short rows", [11, 5]) {
                normalized($0[0], axes: [1])
            }, becomes: ["layer_norm"], not: ["mean"]),
        Formula(
            example: OperationCase("layer_norm of long rows far from 0", [3, 2500]) {
                normalized($0[0] + 10, axes: [1])
            }, becomes: ["layer_norm"], not: ["mean"]),
        Formula(
            example: OperationCase("layer_norm of two axes", [3, 2, 9, 4, 5]) {
                normalized($0[0], axes: [3, 4])
            }, becomes: ["layer_norm"], not: ["mean"]),
        Formula(
            example: OperationCase(
                "layer_norm of pixels", [2, 24, 9, 7], [24, 1, 1], weights: 1
            ) { inputs in
                let x = inputs[0]
                let centered = x - x.mean(axes: [1], keepDims: true)
                let square = pow(centered, x.graph.constant(2))
                let variance = square.mean(axes: [1], keepDims: true)
                return centered * pow(variance + 1e-6, x.graph.constant(-0.5)) * inputs[1]
            }, becomes: ["layer_norm"], not: ["mean", "pow"]),
        Formula(
            example: OperationCase(
                "layer_norm of permuted pixels", [1, 24, 9, 7], [24], [40, 24, 1, 1], weights: 2
            ) {
                let pixels = normalized($0[0].transposed([0, 2, 3, 1]), axes: [3]) * $0[1]
                return conv2d(pixels.transposed([0, 3, 1, 2]), weight: $0[2])
            }, becomes: ["layer_norm", "conv2d_panels"], not: ["mean", "as_strided"]),
        // The scale has fewer elements than a row.
        Formula(
            example: OperationCase(
                "layer_norm of whole images", [2, 32, 6, 5], [32, 1, 1], [32, 1, 1], weights: 2
            ) {
                normalized($0[0], axes: [1, 2, 3]) * $0[1] + $0[2]
            }, becomes: ["layer_norm"], not: ["mean"]),
        // So large that convolutions pass rows on, but not to one row of all pixels.
        Formula(
            example: OperationCase(
                "layer_norm of a convolution", [1, 8, 32, 32], [64, 8, 1, 1], [32, 64, 1, 1],
                weights: 2
            ) {
                let y = normalized(conv2d($0[0], weight: $0[1]), axes: [1, 2, 3])
                return conv2d(y, weight: $0[2])
            }, becomes: ["layer_norm", "conv2d_panels"], not: ["mean"]),
        Formula(
            example: OperationCase(
                "layer_norm of two axes, then linear", [128, 16, 64], [48, 64], weights: 1
            ) {
                linear(normalized($0[0], axes: [-2, -1]), weight: $0[1])
            }, becomes: ["layer_norm", "linear"], not: ["mean"]),
        // The formula has more axes than its operand.
        Formula(
            example: OperationCase("layer_norm, epsilon of more axes", [2, 3, 24]) {
                let x = $0[0]
                let epsilon = x.graph.constant(
                    TensorData(shape: [1, 1, 1, 1], scalars: [1e-5]))
                let centered = x - x.mean(axes: [2], keepDims: true)
                let variance = (centered * centered).mean(axes: [2], keepDims: true)
                return concat([centered / sqrt(variance + epsilon)], axis: 0)
            }, becomes: ["mean"], not: ["layer_norm"]),
        // Rows of an image are not together in memory.
        Formula(
            example: OperationCase("instance_norm", [2, 5, 9, 7]) {
                normalized($0[0], axes: [2, 3])
            }, becomes: ["mean"], not: ["layer_norm"]),
    ]

    static let attentions: [Formula] = [
        Formula(
            example: OperationCase("attention", [2, 3, 37, 16], [2, 3, 37, 16], [2, 3, 37, 16]) {
                matmul(softmax(matmul($0[0], $0[1], transposeY: true), axis: -1), $0[2])
            }, becomes: ["attention"], not: ["matmul", "softmax"]),
        Formula(
            example: OperationCase("attention of joined heads", [2, 37, 48], [2, 37, 96]) {
                let q = heads($0[0], 3) / 4
                let k = heads($0[1].sliced(axis: 2, 0..<48), 3).transposed([0, 1, 3, 2])
                let v = heads($0[1].sliced(axis: 2, 48..<96), 3)
                return matmul(softmax(matmul(q, k), axis: 3), v).transposed([0, 2, 1, 3])
                    .reshaped([2, 37, 48])
            }, becomes: ["attention"], not: ["matmul", "softmax", "as_strided"]),
        Formula(
            example: OperationCase(
                "attention with a mask", [2, 3, 5, 8], [2, 3, 8, 50], [2, 3, 50, 24], [3, 5, 50],
                weights: 1
            ) {
                matmul(softmax(matmul($0[0], $0[1]) * 0.3 + $0[3], axis: -1), $0[2])
            }, becomes: ["attention"], not: ["matmul", "softmax"]),
        Formula(
            example: OperationCase("attention to few", [4, 19, 8], [4, 7, 8], [4, 8, 7]) {
                let scores = matmul($0[0] * 0.5, $0[1], transposeY: true)
                return matmul(softmax(scores, axis: 2), $0[2], transposeY: true)
            }, becomes: ["attention"], not: ["matmul", "softmax"]),
        Formula(
            example: OperationCase(
                "attention of many", [1, 150, 16], [1, 1500, 16], [1, 1500, 5]
            ) {
                matmul(softmax(matmul($0[0], $0[1], transposeY: true), axis: 2), $0[2])
            }, becomes: ["attention"], not: ["matmul", "softmax"]),
        Formula(
            example: OperationCase(
                "attention down the columns", [2, 8, 90], [2, 8, 70], [2, 33, 90]
            ) {
                let weights = softmax(matmul($0[0], $0[1], transposeX: true), axis: 1)
                return matmul($0[2], weights)
            }, becomes: ["attention"], not: ["matmul", "softmax"]),
        Formula(
            example: OperationCase(
                "attention with a mask of keys", [3, 5, 8], [3, 50, 8], [3, 50, 24], [50],
                weights: 1
            ) {
                let scores = matmul($0[0], $0[1], transposeY: true) + $0[3]
                return matmul(softmax(scores, axis: -1), $0[2])
            }, becomes: ["attention"], not: ["matmul", "softmax"]),
        Formula(
            example: OperationCase(
                "attention with a mask of images", [2, 3, 5, 8], [2, 3, 50, 8], [2, 3, 50, 24],
                [2, 1, 5, 50]
            ) {
                let scores = $0[3] + matmul($0[0], $0[1], transposeY: true)
                return matmul(softmax(scores + 1, axis: -1), $0[2])
            }, becomes: ["matmul"]),
        Formula(
            example: OperationCase("attention of one row", [2, 1, 8], [2, 9, 8], [9, 5]) {
                let scores = matmul($0[0], $0[1], transposeY: true) + 1
                return matmul(softmax(scores, axis: -1), $0[2])
            }, becomes: ["attention"], not: ["matmul", "softmax"]),
        // A multiple of the sum, and a mask of transposed scores, have no form.
        Formula(
            example: OperationCase(
                "attention, scaled after its mask", [3, 5, 8], [3, 50, 8], [3, 50, 24], [5, 50]
            ) {
                let scores = (matmul($0[0], $0[1], transposeY: true) + $0[3]) * 0.3
                return matmul(softmax(scores, axis: -1), $0[2])
            }, becomes: ["matmul", "softmax"], not: ["attention"]),
        Formula(
            example: OperationCase(
                "attention down the columns with a mask", [2, 8, 9], [2, 8, 7], [2, 3, 9], [9, 7]
            ) {
                let scores = matmul($0[0], $0[1], transposeX: true) + $0[3]
                return matmul($0[2], softmax(scores, axis: 1))
            }, becomes: ["matmul", "softmax"], not: ["attention"]),
        // The scores are needed.
        Formula(
            example: OperationCase("attention and its scores", [2, 3, 9, 8], [2, 3, 9, 8]) {
                let scores = softmax(matmul($0[0], $0[1], transposeY: true), axis: -1)
                return matmul(scores, $0[1]) + scores.mean(axes: [3], keepDims: true)
            }, becomes: ["matmul", "softmax"], not: ["attention"]),
    ]

    static let activations: [Formula] = [
        Formula(
            example: OperationCase("gelu", .wide([3, 50])) {
                $0[0] * 0.5 * (1 + erf($0[0] / Float(2).squareRoot()))
            }, becomes: ["gelu"], not: ["erf"]),
        Formula(
            example: OperationCase("gelu, factors in another order", .wide([3, 50])) {
                (erf($0[0] * Float(0.5).squareRoot()) + 1) * $0[0] * 0.5
            }, becomes: ["gelu"], not: ["erf"]),
        Formula(
            example: OperationCase("erf of another multiple", .wide([3, 50])) {
                $0[0] * 0.5 * (1 + erf($0[0] / 2))
            }, becomes: ["erf"], not: ["gelu"]),
        Formula(
            example: OperationCase(
                "gate after a convolution", [2, 8, 33, 40], [96, 8, 1, 1], [32, 48, 1, 1],
                weights: 2
            ) {
                let y = conv2d($0[0], weight: $0[1])
                let gated = y.sliced(axis: 1, 48..<96) * y.sliced(axis: 1, 0..<48)
                return conv2d(gated, weight: $0[2]) * 0.25
            }, becomes: ["gate"], not: ["as_strided"]),
        Formula(
            example: OperationCase("gate of quarters", [2, 8, 5, 3]) {
                $0[0].sliced(axis: 1, 0..<4) * $0[0].sliced(axis: 1, 2..<6)
            }, becomes: ["mul"], not: ["gate"]),
    ]

    static let products: [Formula] = [
        Formula(
            example: OperationCase("linear", [5, 70], [33, 70], [33], weights: 2) {
                relu(linear($0[0], weight: $0[1], bias: $0[2]))
            }, becomes: ["linear"], not: ["matmul", "add", "relu"]),
        Formula(
            example: OperationCase("linear of rank 3", [2, 131, 48], [7, 48], [7], weights: 2) {
                linear($0[0], weight: $0[1], bias: $0[2])
            }, becomes: ["linear"], not: ["matmul", "as_strided"]),
        Formula(
            example: OperationCase("linear of rank 4", [2, 9, 5, 24], [50, 24], weights: 1) {
                linear($0[0], weight: $0[1])
            }, becomes: ["linear"], not: ["matmul"]),
        Formula(
            example: OperationCase(
                "linear, weights as columns", [3, 20, 24], [24, 50], weights: 1
            ) {
                matmul($0[0], $0[1])
            }, becomes: ["linear"], not: ["matmul"]),
        Formula(
            example: OperationCase(
                "linear, normalized and once more", [1, 1100, 32], [128, 32], [48, 128], weights: 2
            ) {
                let x = relu(linear(normalized($0[0], axes: [2]), weight: $0[1]))
                return linear(x, weight: $0[2])
            }, becomes: ["layer_norm", "linear"], not: ["matmul", "relu"]),
        Formula(
            example: OperationCase(
                "two outputs a channel", [2, 6, 9, 7], [12, 1, 3, 3], weights: 1
            ) {
                conv2d($0[0], weight: $0[1], stride: 2, padding: 1, groups: 6)
            }, becomes: ["conv2d_depthwise"], not: ["conv2d"]),
        Formula(
            example: OperationCase(
                "three outputs a channel", [1, 17, 6, 5], [51, 1, 2, 3], weights: 1
            ) {
                conv2d($0[0], weight: $0[1], padding: Padding(2), dilation: 2, groups: 17)
            }, becomes: ["conv2d_depthwise"], not: ["conv2d"]),
        Formula(
            example: OperationCase(
                "pixel_shuffle of a convolution", [2, 5, 6, 7], [24, 5, 3, 3], [24], weights: 2
            ) {
                relu(pixelShuffle(conv2d($0[0], weight: $0[1], bias: $0[2], padding: 1), factor: 2))
            }, becomes: ["pixel_shuffle_ordered", "relu"], not: ["pixel_shuffle"]),
        Formula(
            example: OperationCase(
                "pixel_shuffle of a convolution that is read twice", [2, 5, 6, 7], [24, 5, 3, 3],
                weights: 1
            ) {
                let y = conv2d($0[0], weight: $0[1], padding: 1)
                return pixelShuffle(y, factor: 2) + y.mean()
            }, becomes: ["pixel_shuffle"], not: ["pixel_shuffle_ordered"]),
        Formula(
            example: OperationCase(
                "pixel_shuffle of a convolution with more biases", [2, 5, 6, 7], [1, 5, 3, 3],
                [8, 1, 1], weights: 2
            ) {
                pixelShuffle(conv2d($0[0], weight: $0[1], padding: 1) + $0[2], factor: 2)
            }, becomes: ["pixel_shuffle"], not: ["pixel_shuffle_ordered"]),
        Formula(
            example: OperationCase(
                "linear with a position for each row", [4, 64, 192], [192, 192], [64, 192],
                weights: 2
            ) {
                linear($0[0], weight: $0[1]) + $0[2]
            }, becomes: ["linear"], not: ["matmul"]),
        Formula(
            example: OperationCase("products of vectors", [1, 8], [8, 3], [3, 1], [5, 1]) {
                let row = matmul(matmul($0[0], $0[1]), $0[2])
                return matmul($0[3], row) + matmul($0[3], $0[3], transposeX: true)
            }, becomes: ["matmul"]),
    ]

    static let convolutions: [Formula] = [
        Formula(
            example: OperationCase(
                "parallel convolutions", [2, 8, 9, 7], [12, 8, 3, 3], [12], [12, 8, 1, 1], [12],
                weights: 4
            ) {
                let first = conv2d($0[0], weight: $0[1], bias: $0[2], stride: 2, padding: 1)
                return relu(first + conv2d($0[0], weight: $0[3], bias: $0[4], stride: 2))
            }, becomes: ["conv2d_panels"], not: ["relu", "conv2d_panels 2"]),
        Formula(
            example: OperationCase(
                "parallel depthwise convolutions and the image", [2, 18, 8, 10], [18, 1, 7, 7],
                [18, 1, 3, 3], [18, 1, 1, 1], [2, 18, 8, 10], weights: 4
            ) {
                let large = conv2d($0[0], weight: $0[1], padding: 3, groups: 18)
                let small = conv2d($0[0], weight: $0[2], padding: 1, groups: 18)
                return (large + $0[4]) + (small + conv2d($0[0], weight: $0[3], groups: 18) + $0[0])
            }, becomes: ["conv2d_depthwise"], not: ["conv2d_depthwise 2"]),
        // FastViT's token mixer: x + γ·(parallel convolutions − a normalized x).
        Formula(
            example: OperationCase(
                "scaled parallel convolutions and images", [2, 18, 8, 10], [18, 1, 3, 3], [18],
                [18, 1, 1, 1], [18], [18], [18, 1, 1], weights: 6
            ) {
                let (gain, gamma) = (perChannel($0[4], like: $0[0]), $0[6])
                let large = conv2d($0[0], weight: $0[1], bias: $0[2], padding: 1, groups: 18)
                let small = conv2d($0[0], weight: $0[3], groups: 18) + $0[0] * gain
                let norm = gain * $0[0] + perChannel($0[5], like: $0[0])
                return $0[0] + gamma * (large + small - norm * 0.5)
            }, becomes: ["conv2d_depthwise"], not: ["conv2d_depthwise 2", "add", "mul", "muladd"]),
        Formula(
            example: OperationCase(
                "parallel convolutions and a normalized image", [2, 12, 9, 7], [12, 6, 3, 3],
                [12, 6, 1, 1], [12], [12], weights: 4
            ) {
                let sum =
                    conv2d($0[0], weight: $0[1], padding: 1, groups: 2)
                    + conv2d($0[0], weight: $0[2], groups: 2)
                return relu(
                    sum
                        - ($0[0] * perChannel($0[3], like: $0[0]) + perChannel($0[4], like: $0[0])))
            }, becomes: ["conv2d"], not: ["conv2d 2", "add", "mul", "relu"]),
        Formula(
            example: OperationCase(
                "parallel convolutions less another image", [1, 8, 9, 7], [1, 8, 9, 7],
                [8, 8, 3, 3],
                [8, 8, 1, 1], weights: 2
            ) {
                let sum = conv2d($0[0], weight: $0[2], padding: 1) + conv2d($0[0], weight: $0[3])
                return sum - $0[1] * 3
            }, becomes: ["conv2d_panels"], not: ["conv2d_panels 2"]),
        Formula(
            example: OperationCase("sums of scaled vectors", [6], [6], [6], weights: 1) {
                $0[0] - ($0[1] * $0[2] + $0[1])
            }, becomes: []),
        Formula(
            example: OperationCase(
                "parallel convolutions of even size", [1, 8, 9, 8], [12, 8, 4, 2], [12, 8, 1, 3],
                weights: 2
            ) {
                let padding = Padding(top: 2, bottom: 1, left: 1, right: 0)
                let first = conv2d($0[0], weight: $0[1], padding: padding)
                return first
                    + conv2d(
                        $0[0], weight: $0[2], padding: Padding(top: 0, bottom: 0, left: 1, right: 1)
                    )
            }, becomes: ["conv2d_panels"], not: ["conv2d_panels 2"]),
        Formula(
            example: OperationCase(
                "convolutions of two images", [1, 8, 9, 8], [1, 8, 9, 8], [12, 8, 3, 3],
                [12, 8, 1, 1], weights: 2
            ) {
                conv2d($0[0], weight: $0[2], padding: 1) + conv2d($0[1], weight: $0[3])
            }, becomes: ["conv2d_panels", "conv2d_panels 2"]),
        Formula(
            example: OperationCase(
                "a convolution of all pixels beside another", [1, 16, 5, 5], [20, 16, 3, 3],
                [20, 16, 5, 5], weights: 2
            ) {
                conv2d($0[0], weight: $0[1], padding: 1) + conv2d($0[0], weight: $0[2])
            }, becomes: ["conv2d_panels", "conv2d_panels 2"]),
        Formula(
            example: OperationCase(
                "dilated beside another", [1, 16, 9, 9], [20, 16, 3, 3], [20, 16, 3, 3],
                weights: 2
            ) {
                conv2d($0[0], weight: $0[1], padding: 1)
                    + conv2d($0[0], weight: $0[2], padding: 2, dilation: 2)
            }, becomes: ["conv2d_panels", "conv2d_panels 2"]),
        transposed("transposed to three channels", [20, 3, 4, 4], padding: 1),
        transposed("transposed without overlap", [20, 2, 2, 2], padding: 0),
        transposed("transposed with padding at the end", [20, 3, 3, 3], padding: 1, more: 1),
        transposed("transposed by three", [20, 1, 5, 5], stride: 3, padding: 1),
    ]

    private static func transposed(
        _ name: String, _ weight: Shape, stride: Int = 2, padding: Int, more: Int = 0
    ) -> Formula {
        Formula(
            example: OperationCase(
                name, [2, 20, 5, 7], CaseInput(weight, .signed), weights: 1
            ) {
                tanh(
                    convTranspose2d(
                        $0[0], weight: $0[1], stride: Pair(stride), padding: Padding(padding),
                        outputPadding: Pair(more)))
            }, becomes: ["pixel_shuffle_ordered"], not: ["conv_transpose2d"])
    }

    static let movements: [Formula] = [
        Formula(
            example: OperationCase("windows and back", [1, 6, 8, 12], [6, 6], weights: 1) {
                let x = $0[0].reshaped([1, 6, 2, 4, 3, 4]).transposed([0, 2, 4, 3, 5, 1])
                let y = linear(x.reshaped([6, 16, 6]), weight: $0[1])
                return y.reshaped([1, 2, 3, 4, 4, 6]).transposed([0, 5, 1, 3, 2, 4])
                    .reshaped([1, 6, 8, 12])
            }, becomes: ["linear", "as_strided", "as_strided 2"], not: ["as_strided 3"]),
        Formula(
            example: OperationCase("pixels as rows", [2, 6, 8, 12], [5, 6], weights: 1) {
                let rows = $0[0].reshaped([2, 6, 96]).transposed([0, 2, 1])
                return linear(rows, weight: $0[1])
            }, becomes: ["linear"], not: ["as_strided"]),
        Formula(
            example: OperationCase(
                "rows of rank 4", [2, 3, 10, 4], [2, 3, 4, 10], [2, 3, 10, 10]
            ) {
                let scores = matmul($0[0], $0[1]) + $0[2]
                let joined = concat([scores, scores * scores], axis: 3)
                let padded = joined.padded(
                    before: [0, 0, 1, 0], after: [0, 0, 0, 2], value: 0.5)
                return softmax(padded, axis: 3).mean(axes: [2]) + joined.sum(axes: [2]).mean()
            }, becomes: ["matmul", "softmax"]),
        Formula(
            example: OperationCase("first and second half of a batch", [4, 3, 5, 2]) {
                $0[0].sliced(axis: 0, 0..<2) - $0[0].sliced(axis: 0, 2..<4)
            }, becomes: ["sub"], not: ["as_strided"]),
        Formula(
            example: OperationCase("repeated, then split", [2, 5, 3]) {
                $0[0].reshaped([2, 5, 1, 3]).broadcast(to: [2, 5, 4, 3]).reshaped([2, 20, 3])
                    .transposed([2, 0, 1]) * 2
            }, becomes: ["as_strided", "as_strided 2"], not: ["as_strided 3"]),
    ]

    private static func normalized(_ x: Tensor, axes: [Int]) -> Tensor {
        let centered = x - x.mean(axes: axes, keepDims: true)
        let variance = (centered * centered).mean(axes: axes, keepDims: true)
        return centered / sqrt(variance + 1e-5)
    }

    /// [N, L, heads·D] as [N, heads, L, D].
    private static func heads(_ x: Tensor, _ count: Int) -> Tensor {
        let size = x.shape
        return x.reshaped([size[0], size[1], count, size[2] / count]).transposed([0, 2, 1, 3])
    }
}

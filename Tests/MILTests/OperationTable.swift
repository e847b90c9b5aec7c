import TensorGraph
import Testing

/// An operation on inputs and weights of some shapes.
struct ConversionCase: Sendable, CustomTestStringConvertible {
    let name: String
    let inputs: [Shape]
    let weights: [Shape]
    let positive: Bool
    /// The types of MIL that it is written with, in order; nil where another test looks.
    let types: [String]
    let build: @Sendable ([Tensor], [Tensor]) -> Tensor

    init(
        _ name: String, _ inputs: Shape..., weights: [Shape] = [], positive: Bool = false,
        as types: [String],
        build: @escaping @Sendable ([Tensor], [Tensor]) -> Tensor
    ) {
        self.name = name
        self.inputs = inputs
        self.weights = weights
        self.positive = positive
        self.types = types
        self.build = build
    }

    var testDescription: String { name }
}

private typealias Case = ConversionCase

enum OperationTable {
    static let all = convolutions + products + elementwise + reductions + shapes + pictures

    private static let x: Shape = [2, 4, 6, 8]

    private static let convolutions = [
        Case("conv", [2, 3, 7, 9], weights: [[4, 3, 3, 3], [4]], as: ["conv"]) {
            conv2d($0[0], weight: $1[0], bias: $1[1], stride: 2, padding: 1)
        },
        Case("conv dilated", [1, 3, 9, 8], weights: [[4, 3, 3, 3]], as: ["conv"]) {
            let padding = Padding(top: 2, bottom: 1, left: 0, right: 3)
            return conv2d($0[0], weight: $1[0], padding: padding, dilation: 2)
        },
        Case("conv depthwise", [1, 6, 5, 7], weights: [[12, 1, 3, 3], [12]], as: ["conv"]) {
            conv2d($0[0], weight: $1[0], bias: $1[1], padding: 1, groups: 6)
        },
        Case("conv of computed weight", [1, 3, 5, 5], [2, 3, 3, 3], as: ["conv"]) { x, _ in
            conv2d(x[0], weight: x[1])
        },
        Case(
            "conv_transpose", [2, 3, 4, 5], weights: [[3, 2, 4, 4], [2]], as: ["conv_transpose"]
        ) {
            convTranspose2d($0[0], weight: $1[0], bias: $1[1], stride: 2, padding: 1)
        },
        Case(
            "conv_transpose groups", [1, 4, 4, 5], weights: [[4, 3, 3, 3]], as: ["conv_transpose"]
        ) {
            convTranspose2d($0[0], weight: $1[0], dilation: 2, groups: 2)
        },
        Case(
            "conv_transpose cropped", [2, 3, 4, 5], weights: [[3, 2, 3, 3], [2]],
            as: ["conv_transpose", "crop"]
        ) {
            convTranspose2d(
                $0[0], weight: $1[0], bias: $1[1], stride: 2, padding: 1, outputPadding: 1)
        },
        Case(
            "conv_transpose padded", [1, 3, 4, 5], weights: [[3, 2, 2, 2], [2]],
            as: ["conv_transpose", "pad", "add"]
        ) {
            convTranspose2d($0[0], weight: $1[0], bias: $1[1], stride: 3, outputPadding: Pair(2, 1))
        },
        Case(
            "conv_transpose cropped and padded", [1, 3, 4, 5], weights: [[3, 2, 2, 3], [2]],
            as: ["conv_transpose", "crop", "pad", "add"]
        ) {
            let padding = Padding(top: 1, bottom: 0, left: 0, right: 1)
            return convTranspose2d(
                $0[0], weight: $1[0], bias: $1[1], stride: 2, padding: padding, outputPadding: 1)
        },
        Case("batch_norm", x, weights: [[4], [4], [4], [4]], positive: true, as: ["batch_norm"]) {
            batchNorm($0[0], weight: $1[0], bias: $1[1], mean: $1[2], variance: $1[3])
        },
        Case(
            "batch_norm of vectors", [3, 4], weights: [[4], [4], [4], [4]], positive: true,
            as: ["mul", "add"]
        ) {
            batchNorm($0[0], weight: $1[0], bias: $1[1], mean: $1[2], variance: $1[3])
        },
        Case(
            "batch_norm folded", [2, 3, 5, 5], weights: [[4, 3, 3, 3], [4], [4], [4], [4], [4]],
            positive: true, as: ["conv"]
        ) {
            let y = conv2d($0[0], weight: $1[0], bias: $1[1], padding: 1)
            return batchNorm(y, weight: $1[2], bias: $1[3], mean: $1[4], variance: $1[5])
        },
        Case(
            "batch_norm of a value used twice", [1, 3, 5, 5],
            weights: [[3, 3, 1, 1], [3], [3], [3], [3]], positive: true,
            as: ["conv", "batch_norm", "add"]
        ) {
            let y = conv2d($0[0], weight: $1[0])
            return y + batchNorm(y, weight: $1[1], bias: $1[2], mean: $1[3], variance: $1[4])
        },
    ]

    private static let products = [
        Case("linear", [3, 5], weights: [[4, 5], [4]], as: ["linear"]) {
            linear($0[0], weight: $1[0], bias: $1[1])
        },
        Case("linear without bias", [2, 3, 5], weights: [[4, 5]], as: ["linear"]) {
            linear($0[0], weight: $1[0])
        },
        Case("matmul", [2, 3, 5], [2, 5, 4], as: ["matmul"]) { x, _ in matmul(x[0], x[1]) },
        Case("matmul transposed", [5, 3], [4, 5], as: ["matmul"]) { x, _ in
            matmul(x[0], x[1], transposeX: true, transposeY: true)
        },
    ]

    private static let elementwise =
        [
            unary("relu", relu), unary("relu6") { relu6($0 * 9) }.written(as: ["mul", "relu6"]),
            unary("sigmoid", sigmoid), unary("tanh", tanh), unary("exp", exp), unary("abs", abs),
            unary("leaky_relu") { leakyRelu($0, negativeSlope: 0.2) },
            unary("clip") { clip($0, min: -0.5, max: 0.25) },
            unary("clip below") { clip($0, min: 0, max: .infinity) }.written(as: ["clip"]),
            unary("neg") { -$0 }.written(as: ["mul"]),
            unary("hardswish") { hardSwish($0 * 5) }
                .written(as: ["mul", "sigmoid_hard", "mul"]),
            unary("log", positive: true, log), unary("sqrt", positive: true, sqrt),
            unary("scalar left") { 3 - $0 }.written(as: ["sub"]),
            unary("softmax") { softmax($0, axis: 1) },
            unary("log_softmax") { logSoftmax($0, axis: -1) }
                .written(as: ["reduce_max", "sub", "exp", "reduce_sum", "log", "sub"]),
        ] + [
            binary("add", { $0 + $1 }), binary("sub", { $0 - $1 }), binary("mul", { $0 * $1 }),
            binary("real_div", { $0 / $1 }), binary("pow", { pow($0, $1) }),
            binary("maximum", { maximum($0, $1) }), binary("minimum", { minimum($0, $1) }),
        ]

    private static let reductions = [
        unary("reduce_sum") { $0.sum(axes: [1, -1]) },
        unary("reduce_mean") { $0.mean(axes: [2, 3], keepDims: true) },
        unary("reduce_max") { $0.max(axes: [0]) },
    ]

    private static let shapes = [
        unary("reshape") { $0.reshaped([8, 48]) },
        unary("transpose") { $0.transposed([0, 2, 3, 1]) },
        unary("tile") { $0.sliced(axis: 1, 0..<1).broadcast(to: [2, 5, 6, 8]) }
            .written(as: ["slice_by_index", "tile"]),
        unary("tile of lower rank") { $0.max(axes: [0]).broadcast(to: [3, 4, 6, 8]) }
            .written(as: ["reduce_max", "reshape", "tile"]),
        unary("pad") { $0.padded(before: [0, 1, 2, 0], after: [0, 2, 0, 3], value: 0.5) },
        unary("slice") { $0.sliced(from: [1, 0, 1, 2], to: [2, 4, 6, 7], stride: [1, 2, 2, 3]) }
            .written(as: ["slice_by_index"]),
        Case("concat", x, [2, 3, 6, 8], as: ["concat"]) { x, _ in
            concat([x[0], x[1], x[0]], axis: 1)
        },
        Case("concat with weights", [1, 4], weights: [[1, 3]], as: ["concat"]) {
            concat([$0[0], $1[0]], axis: -1)
        },
    ]

    private static let pictures = [
        unary("upsample_bilinear") { upsampleBilinear($0, factor: Pair(4, 3)) },
        unary("upsample_bilinear aligned") { upsampleBilinear($0, factor: 2, alignCorners: true) }
            .written(as: ["upsample_bilinear"]),
        unary("upsample_nearest") { upsampleNearest($0, factor: Pair(2, 3)) }
            .written(as: ["upsample_nearest_neighbor"]),
        unary("pixel_shuffle") { pixelShuffle($0, factor: 2) },
        unary("pixel_unshuffle") { pixelUnshuffle($0, factor: 2) }
            .written(as: ["reshape", "transpose", "reshape"]),
        unary("max_pool") { maxPool2d($0, kernel: 3, stride: 2, padding: 1) },
        unary("avg_pool") { avgPool2d($0, kernel: 2, padding: 1) },
        unary("avg_pool without padding") {
            avgPool2d($0, kernel: 3, stride: 2, padding: 1, countIncludePad: false)
        }.written(as: ["avg_pool"]),
    ]

    /// A function of one tensor that has the name of its MIL type.
    private static func unary(
        _ name: String, positive: Bool = false, _ build: @escaping @Sendable (Tensor) -> Tensor
    ) -> Case {
        let type = String(name.split(separator: " ")[0])
        return Case(name, x, positive: positive, as: [type]) { x, _ in build(x[0]) }
    }

    private static func binary(
        _ name: String, _ build: @escaping @Sendable (Tensor, Tensor) -> Tensor
    ) -> Case {
        Case(name, x, [4, 1, 8], positive: true, as: [name]) { x, _ in build(x[0], x[1]) }
    }
}

extension ConversionCase {
    fileprivate func written(as types: [String]) -> ConversionCase {
        ConversionCase(
            name, inputs[0], weights: weights, positive: positive, as: types, build: build)
    }
}

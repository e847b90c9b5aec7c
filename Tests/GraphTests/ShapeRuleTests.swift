import RetintGraph
import RetintTensors
import Testing

/// A rule of one operation, broken: what is built, and what the message says.
struct BrokenRule: Sendable, CustomTestStringConvertible {
    let operation: String
    let fragment: String
    let shapes: [Shape]
    let build: @Sendable ([Tensor]) -> Void

    init(
        _ operation: String, _ fragment: String, _ shapes: Shape...,
        build: @escaping @Sendable ([Tensor]) -> Void
    ) {
        (self.operation, self.fragment, self.shapes) = (operation, fragment, shapes)
        self.build = build
    }

    var testDescription: String { "\(operation): \(fragment)" }

    static let all: [BrokenRule] = [
        BrokenRule("input", "shape [2, 0] has no elements", []) {
            _ = $0[0].graph.input("i", [2, 0])
        },
        BrokenRule("variable", "shape [-1] has no elements", []) {
            _ = $0[0].graph.variable("v", [-1], role: .parameter)
        },
        BrokenRule("input", "is above 1073741824", []) {
            _ = $0[0].graph.input("i", [1 << 32, 1 << 32])
        },
        BrokenRule("input", "has more than 1099511627776 elements", []) {
            _ = $0[0].graph.input("i", [1 << 30, 1 << 30, 1 << 30])
        },
        BrokenRule("input", "a tensor has at most 8 axes, not 9", []) {
            _ = $0[0].graph.input("i", Shape([Int](repeating: 1, count: 9)))
        },
        BrokenRule("input", "already declared", [2]) { _ = $0[0].graph.input("0", [3]) },
        BrokenRule("variable", "already declared", []) {
            _ = $0[0].graph.variable("v", [2], role: .parameter)
            _ = $0[0].graph.variable("v", [2], role: .buffer)
        },
        BrokenRule("add", "[2, 3] and [2] cannot be broadcast", [2, 3], [2]) { _ = $0[0] + $0[1] },
        BrokenRule("gt", "cannot be broadcast together", [4], [3]) { _ = greater($0[0], $0[1]) },
        BrokenRule("clip", "minimum 1.0 is above maximum -1.0", [3]) {
            _ = clip($0[0], min: 1, max: -1)
        },
        BrokenRule("broadcast_to", "[3] cannot be broadcast to [2]", [3]) {
            _ = $0[0].broadcast(to: [2])
        },
        BrokenRule("broadcast_to", "[2, 3] cannot be broadcast to [3]", [2, 3]) {
            _ = $0[0].broadcast(to: [3])
        },
        BrokenRule("broadcast_to", "has no elements", [1, 3]) { _ = $0[0].broadcast(to: [0, 3]) },
        BrokenRule("sum", "axis 2 is out of range for rank 2", [2, 3]) { _ = $0[0].sum(axes: [2]) },
        BrokenRule("mean", "axis -3 is out of range", [2, 3]) { _ = $0[0].mean(axes: [-3]) },
        BrokenRule("max", "axis -1 is named twice", [2, 3]) { _ = $0[0].max(axes: [1, -1]) },
        BrokenRule("softmax", "axis 1 is out of range for rank 1", [3]) {
            _ = softmax($0[0], axis: 1)
        },
        BrokenRule("log_softmax", "axis 0 is out of range for rank 0", []) {
            _ = logSoftmax($0[0], axis: 0)
        },
        BrokenRule("reshape", "6 elements cannot be reshaped to [4]", [2, 3]) {
            _ = $0[0].reshaped([4])
        },
        BrokenRule("reshape", "[-2, -3] has no elements", [2, 3]) { _ = $0[0].reshaped([-2, -3]) },
        BrokenRule("reshape", "is above 1073741824", [2]) {
            _ = $0[0].reshaped([1 << 40, 1 << 40])
        },
        BrokenRule("transpose", "[0, 0] is not a permutation of [0, 1]", [2, 3]) {
            _ = $0[0].transposed([0, 0])
        },
        BrokenRule("transpose", "[1, 0] is not a permutation of [0, 1, 2]", [2, 3, 4]) {
            _ = $0[0].transposed([1, 0])
        },
        BrokenRule("slice", "needs begin, end and stride for each of 2 axes", [2, 3]) {
            _ = $0[0].sliced(from: [0], to: [1])
        },
        BrokenRule("slice", "1..<4 is out of range for axis 1", [2, 3]) {
            _ = $0[0].sliced(axis: 1, 1..<4)
        },
        BrokenRule("slice", "2..<2 is out of range for axis 1", [2, 3]) {
            _ = $0[0].sliced(axis: -1, 2..<2)
        },
        BrokenRule("slice", "stride must be from 1 to", [3]) {
            _ = $0[0].sliced(from: [0], to: [3], stride: [0])
        },
        BrokenRule("slice", "stride must be from 1 to", [1, 1, 4, 4]) {
            _ = $0[0].subsampled(by: 0)
        },
        BrokenRule("slice", "axis 5 is out of range for rank 1", [3]) {
            _ = $0[0].sliced(axis: 5, 0..<1)
        },
        BrokenRule("pad", "two amounts for each axis", [2, 3]) {
            _ = $0[0].padded(before: [1], after: [1])
        },
        BrokenRule("pad", "amounts must be from 0 to", [3]) {
            _ = $0[0].padded(before: [-1], after: [2])
        },
        BrokenRule("concat", "inputs must have the same rank", [2, 3], [3]) {
            _ = concat($0, axis: 0)
        },
        BrokenRule("concat", "may differ only along axis 1", [2, 3], [4, 3]) {
            _ = concat($0, axis: 1)
        },
        BrokenRule("concat", "axis 2 is out of range", [2, 3], [2, 3]) { _ = concat($0, axis: 2) },
        BrokenRule("pixel_shuffle", "6 channels are not a multiple of 2²", [1, 6, 2, 2]) {
            _ = pixelShuffle($0[0], factor: 2)
        },
        BrokenRule("pixel_shuffle", "must have rank 4", [4, 2, 2]) {
            _ = pixelShuffle($0[0], factor: 2)
        },
        BrokenRule("pixel_shuffle", "not a multiple of 0²", [1, 4, 2, 2]) {
            _ = pixelShuffle($0[0], factor: 0)
        },
        BrokenRule("pixel_unshuffle", "3×4 pixels are not a multiple of 2", [1, 1, 3, 4]) {
            _ = pixelUnshuffle($0[0], factor: 2)
        },
        BrokenRule("matmul", "operands must have rank 2 or more", [3], [3, 2]) {
            _ = matmul($0[0], $0[1])
        },
        BrokenRule("matmul", "3 columns do not match 4 rows", [2, 3], [4, 2]) {
            _ = matmul($0[0], $0[1])
        },
        BrokenRule("matmul", "2 columns do not match 3 rows", [2, 5], [3, 5]) {
            _ = matmul($0[0], $0[1], transposeX: true)
        },
        BrokenRule("matmul", "leading axes must be equal", [2, 3, 4], [3, 4, 5]) {
            _ = matmul($0[0], $0[1])
        },
        BrokenRule("conv2d", "input must have rank 4", [3, 5, 5], [2, 3, 1, 1]) {
            _ = conv2d($0[0], weight: $0[1])
        },
        BrokenRule("conv2d", "weight must have rank 4", [1, 3, 5, 5], [2, 3]) {
            _ = conv2d($0[0], weight: $0[1])
        },
        BrokenRule("conv2d", "does not fit 3 input channels", [1, 3, 5, 5], [2, 4, 1, 1]) {
            _ = conv2d($0[0], weight: $0[1])
        },
        BrokenRule("conv2d", "with 2 groups does not fit", [1, 4, 5, 5], [3, 2, 1, 1]) {
            _ = conv2d($0[0], weight: $0[1], groups: 2)
        },
        BrokenRule("conv2d", "groups must be at least 1", [1, 4, 5, 5], [3, 4, 1, 1]) {
            _ = conv2d($0[0], weight: $0[1], groups: 0)
        },
        BrokenRule("conv2d", "bias must have shape [2]", [1, 3, 5, 5], [2, 3, 1, 1], [3]) {
            _ = conv2d($0[0], weight: $0[1], bias: $0[2])
        },
        BrokenRule("conv2d", "5×5 window does not fit into 4×4", [1, 3, 4, 4], [2, 3, 5, 5]) {
            _ = conv2d($0[0], weight: $0[1])
        },
        BrokenRule("conv2d", "stride must be from 1 to", [1, 3, 4, 4], [2, 3, 1, 1]) {
            _ = conv2d($0[0], weight: $0[1], stride: 0)
        },
        BrokenRule("conv2d", "padding must be from 0 to 1048576", [1, 3, 4, 4], [2, 3, 1, 1]) {
            _ = conv2d($0[0], weight: $0[1], padding: Padding(1 << 31))
        },
        BrokenRule("conv2d", "dilation must be from 1 to 1048576", [1, 3, 4, 4], [2, 3, 1, 1]) {
            _ = conv2d($0[0], weight: $0[1], dilation: Pair(.max))
        },
        BrokenRule("conv_transpose2d", "stride must be from", [1, 3, 4, 4], [3, 2, 4, 4]) {
            _ = convTranspose2d($0[0], weight: $0[1], stride: Pair(.max))
        },
        BrokenRule("max_pool2d", "a kernel's side must be from 1", [1, 3, 4, 4]) {
            _ = maxPool2d($0[0], kernel: Pair(.max), stride: 1)
        },
        BrokenRule("pad", "amounts must be from 0 to 1073741824", [3]) {
            _ = $0[0].padded(before: [.max], after: [.max])
        },
        BrokenRule("upsample_bilinear2d", "factor must be from 1 to", [1, 3, 4, 4]) {
            _ = upsampleBilinear($0[0], factor: Pair(.max))
        },
        BrokenRule("pixel_shuffle", "are not a multiple of", [1, 4, 4, 4]) {
            _ = pixelShuffle($0[0], factor: .max)
        },
        BrokenRule("slice", "stride must be from 1 to", [3]) {
            _ = $0[0].sliced(from: [0], to: [2], stride: [.max])
        },
        BrokenRule("conv2d", "dilation must be from 1 to", [1, 3, 4, 4], [2, 3, 1, 1]) {
            _ = conv2d($0[0], weight: $0[1], dilation: 0)
        },
        BrokenRule("conv2d", "padding must be from 0 to", [1, 3, 4, 4], [2, 3, 1, 1]) {
            _ = conv2d($0[0], weight: $0[1], padding: -1)
        },
        BrokenRule("conv_transpose2d", "does not fit 3 input", [1, 3, 4, 4], [2, 3, 4, 4]) {
            _ = convTranspose2d($0[0], weight: $0[1])
        },
        BrokenRule(
            "conv_transpose2d", "bias must have shape [6]", [1, 4, 2, 2], [4, 3, 2, 2], [3]
        ) { _ = convTranspose2d($0[0], weight: $0[1], bias: $0[2], groups: 2) },
        BrokenRule("conv_transpose2d", "does not come from", [1, 3, 4, 4], [3, 2, 4, 4]) {
            _ = convTranspose2d($0[0], weight: $0[1], stride: 2, outputPadding: 2)
        },
        BrokenRule("conv_transpose2d", "has no elements", [1, 3, 1, 1], [3, 2, 1, 1]) {
            _ = convTranspose2d($0[0], weight: $0[1], padding: 1)
        },
        BrokenRule("conv_transpose2d", "stride must be from 1 to", [1, 3, 4, 4], [3, 2, 4, 4]) {
            _ = convTranspose2d($0[0], weight: $0[1], stride: 0)
        },
        BrokenRule("conv_transpose2d", "weight must have rank 4", [1, 3, 4, 4], [3, 2]) {
            _ = convTranspose2d($0[0], weight: $0[1])
        },
        BrokenRule("max_pool2d", "must have rank 4", [3, 4, 4]) { _ = maxPool2d($0[0], kernel: 2) },
        BrokenRule("max_pool2d", "at most half the kernel", [1, 3, 4, 4]) {
            _ = maxPool2d($0[0], kernel: 2, padding: 2)
        },
        BrokenRule("max_pool2d", "a kernel's side must be from 1", [1, 3, 4, 4]) {
            _ = maxPool2d($0[0], kernel: 0, stride: 1)
        },
        BrokenRule("avg_pool2d", "does not fit", [1, 3, 2, 2]) { _ = avgPool2d($0[0], kernel: 3) },
        BrokenRule("mean", "axis 2 is out of range", [3, 4]) { _ = globalAvgPool2d($0[0]) },
        BrokenRule("upsample_bilinear2d", "must have rank 4", [3, 4]) {
            _ = upsampleBilinear($0[0], factor: 2)
        },
        BrokenRule("upsample_nearest2d", "factor must be from 1 to", [1, 3, 4, 4]) {
            _ = upsampleNearest($0[0], factor: 0)
        },
        BrokenRule("batch_norm", "must have shape [3]", [2, 3, 4], [4]) {
            _ = batchNorm($0[0], weight: $0[1], bias: $0[1], mean: $0[1], variance: $0[1])
        },
        BrokenRule("batch_norm", "input must be [N, C, …]", [3], [3]) {
            _ = batchNorm($0[0], weight: $0[1], bias: $0[1], mean: $0[1], variance: $0[1])
        },
        BrokenRule("batch_moments", "more than one value per channel", [1, 3, 1, 1], [3]) {
            _ = batchNormTraining($0[0], weight: $0[1], bias: $0[1])
        },
        BrokenRule("batch_norm_training", "must have shape [3]", [2, 3, 4], [4]) {
            _ = batchNormTraining($0[0], weight: $0[1], bias: $0[1])
        },
    ]
}

@Suite struct ShapeRuleTests {
    @Test(arguments: BrokenRule.all)
    func brokenRule(_ rule: BrokenRule) throws {
        let graph = Graph()
        let inputs = rule.shapes.enumerated().map { graph.input("\($0)", $1) }
        #expect(graph.error == nil)
        graph.inModule("model") { rule.build(inputs) }
        let error = try #require(graph.error)
        #expect(error.operation == rule.operation)
        #expect(error.module == "model")
        #expect(error.reason.contains(rule.fragment), "\(error)")
    }

    @Test(arguments: [
        ([2, 3], 6, [3, 1]), ([], 1, []), ([5], 5, [1]), ([2, 1, 4], 8, [4, 4, 1]),
    ])
    func countAndStrides(_ dimensions: [Int], _ count: Int, _ strides: [Int]) {
        let shape = Shape(dimensions)
        #expect(shape.count == count)
        #expect(shape.strides == strides)
        #expect(shape.rank == dimensions.count)
    }
}

import RetintGraph
import RetintTensors

/// Cases made by counting through an operation's attributes.
extension OperationTable {
    static let sweeps: [OperationCase] = [
        reduced, permuted, joined, normalizedAlong, tails, depthwise, wideKernels, twoEach,
        farApart, columns, squares,
    ].flatMap { $0 }

    private static let extents = [2, 3, 5, 4, 3]

    private static func shape(_ rank: Int) -> Shape { Shape(Array(extents.prefix(rank))) }

    private static func sweep(
        _ name: String, _ inputs: [CaseInput],
        _ build: @escaping @Sendable ([Tensor]) throws -> Tensor
    ) -> OperationCase {
        OperationCase(name: name, inputs: inputs, checks: .unrecorded, build: build)
    }

    /// Sum, mean and max over every set of axes of ranks 1…5, axes kept in turn.
    private static let reduced: [OperationCase] = (1...5).flatMap { rank in
        (1..<1 << rank).flatMap { set -> [OperationCase] in
            let axes = (0..<rank).filter { set >> $0 & 1 == 1 }
            let keep = (set + rank) % 2 == 0
            let place = "rank \(rank) over \(axes)" + (keep ? " kept" : "")
            return [
                sweep("sum \(place)", [CaseInput(shape(rank), .signed)]) {
                    $0[0].sum(axes: axes, keepDims: keep)
                },
                sweep("mean \(place)", [CaseInput(shape(rank), .signed)]) {
                    $0[0].mean(axes: axes, keepDims: !keep)
                },
                sweep("max \(place)", [CaseInput(shape(rank), .distinct)]) {
                    $0[0].max(axes: axes, keepDims: keep)
                },
            ]
        }
    }

    /// Every permutation of ranks 2…4.
    private static let permuted: [OperationCase] = (2...4).flatMap { rank in
        permutations(Array(0..<rank)).map { permutation in
            sweep("transpose \(permutation)", [CaseInput(shape(rank), .signed)]) {
                $0[0].transposed(permutation)
            }
        }
    }

    private static func permutations(_ items: [Int]) -> [[Int]] {
        guard items.count > 1 else { return [items] }
        return items.flatMap { first in
            permutations(items.filter { $0 != first }).map { [first] + $0 }
        }
    }

    /// Joining, cutting and padding along every axis of ranks 1…5.
    private static let joined: [OperationCase] = axes { rank, axis in
        var longer = shape(rank)
        longer[axis] += 4
        let (start, whole) = (longer.dimensions.map { _ in 0 }, longer)
        var (after, step) = (start, start.map { _ in 1 })
        (after[axis], step[axis]) = (3, 2)
        let amounts = after
        let steps = step
        return [
            sweep(
                "concat rank \(rank) axis \(axis)",
                [CaseInput(shape(rank), .signed), CaseInput(whole, .signed)]
            ) { concat($0, axis: axis) },
            sweep("slice rank \(rank) axis \(axis)", [CaseInput(whole, .signed)]) {
                $0[0].sliced(from: start, to: whole.dimensions, stride: steps)
            },
            sweep("pad rank \(rank) axis \(axis)", [CaseInput(shape(rank), .signed)]) {
                $0[0].padded(before: start, after: amounts, value: 0.5)
            },
        ]
    }

    private static let normalizedAlong: [OperationCase] = axes { rank, axis in
        [
            sweep("softmax rank \(rank) axis \(axis)", [CaseInput(shape(rank), .signed)]) {
                softmax($0[0], axis: axis)
            },
            sweep("log_softmax rank \(rank) axis \(axis)", [CaseInput(shape(rank), .signed)]) {
                logSoftmax($0[0], axis: axis - rank)
            },
        ]
    }

    /// What kernels do to their results as they store them, of channels that do and that do not
    /// fill vectors.
    private static let tails: [OperationCase] = [
        ("panels", 5, 313, 1, 1), ("panels", 9, 40, 3, 1), ("tiles", 32, 48, 3, 1),
        ("depthwise", 17, 17, 3, 17), ("few outputs", 32, 2, 1, 1), ("one channel", 16, 1, 1, 1),
    ].flatMap { (kind, inputs, outputs, side, groups) -> [OperationCase] in
        let shapes: [Shape] = [
            [2, inputs, 13, 11], [outputs, inputs / groups, side, side], [1, outputs, 1, 1],
            [1, outputs, 1, 1],
        ]
        let values = shapes.map { CaseInput($0, .signed) }
        @Sendable func convolved(_ x: [Tensor]) -> Tensor {
            conv2d(x[0], weight: x[1], padding: Padding(side / 2), groups: groups)
        }
        return [
            sweep("conv2d \(kind) to \(outputs), a tail of all", values) {
                clip((convolved($0) * $0[2] + $0[3]) * 0.7, min: -0.5, max: 0.6)
            },
            sweep("conv2d \(kind) to \(outputs), a factor before the bias", values) {
                relu(convolved($0) * 0.7 * $0[2] + $0[3])
            },
        ]
    }

    /// Depthwise 3×3 kernels, whose gradients have loops of their own for these strides and
    /// paddings, at rows of few and of many pixels.
    private static let depthwise: [OperationCase] = [1, 2].flatMap { stride in
        [(0, 16, 5), (0, 40, 14), (1, 33, 4), (1, 48, 15)].map { padding, channels, width in
            let shapes: [Shape] = [[2, channels, 11, width], [channels, 1, 3, 3]]
            let values = shapes.map { CaseInput($0, .signed) }
            return sweep("depthwise \(channels) width \(width) stride \(stride)", values) {
                conv2d(
                    $0[0], weight: $0[1], stride: Pair(stride, stride), padding: Padding(padding),
                    groups: channels)
            }
        }
    }

    /// Depthwise kernels of other widths, strides and dilations: whole and parts of the columns
    /// that share loads, and pixels of the gradient with more terms than are added at once.
    private static let wideKernels: [OperationCase] = [
        (7, 1, 1, 37, 15), (7, 1, 1, 16, 3), (7, 2, 1, 37, 12), (9, 1, 1, 16, 14), (4, 1, 1, 24, 9),
        (2, 2, 1, 16, 12), (6, 2, 1, 20, 13), (23, 1, 1, 16, 17), (5, 3, 1, 18, 21),
        (3, 1, 2, 16, 12), (7, 1, 3, 33, 24), (5, 2, 2, 16, 16),
    ].map { kernel, stride, dilation, channels, width in
        let shapes: [Shape] = [[1, channels, 11, width], [channels, 1, kernel, kernel]]
        let name = "depthwise \(channels) width \(width) kernel \(kernel) stride \(stride)"
        let padding = Padding((kernel - 1) * dilation / 2)
        return sweep("\(name) dilation \(dilation)", shapes.map { CaseInput($0, .signed) }) {
            conv2d(
                $0[0], weight: $0[1], stride: Pair(stride, stride), padding: padding,
                dilation: Pair(dilation, dilation), groups: channels)
        }
    }

    /// Two outputs of each channel, with kernels of widths that share loads and that do not.
    private static let twoEach: [OperationCase] = [
        (7, 2, 1, 32, 15), (3, 1, 1, 8, 3), (5, 3, 1, 19, 21), (4, 1, 1, 16, 9), (3, 1, 2, 9, 12),
    ].map { kernel, stride, dilation, channels, width in
        let shapes: [Shape] = [[2, channels, 11, width], [2 * channels, 1, kernel, kernel]]
        let name = "two each of \(channels) width \(width) kernel \(kernel) stride \(stride)"
        return sweep("\(name) dilation \(dilation)", shapes.map { CaseInput($0, .signed) }) {
            conv2d(
                $0[0], weight: $0[1], stride: Pair(stride, stride), padding: Padding(kernel / 2),
                dilation: Pair(dilation, dilation), groups: channels)
        }
    }

    /// A dilation whose square exceeds an Int32.
    private static let farApart: [OperationCase] = [
        sweep(
            "conv2d dilation 65536",
            [CaseInput([1, 16, 4, 4], .signed), CaseInput([16, 16, 3, 3], .signed)]
        ) {
            conv2d($0[0], weight: $0[1], padding: Padding(65536), dilation: Pair(65536, 65536))
        }
    ]

    /// Sums of columns that fill several vectors, one, and none.
    private static let columns: [OperationCase] = [16, 64, 149].map { channels in
        let shapes: [Shape] = [[2, channels, 12, 13], [channels], [channels]]
        let values = shapes.map { CaseInput($0, .signed) }
        return sweep("batch_norm_training of \(channels) channels", values) {
            tanh(batchNormTraining($0[0], weight: $0[1], bias: $0[2]).output)
        }
    }

    /// Square matrices for pixels: a transposed one would have the same shape.
    private static let squares: [OperationCase] = [16, 19].map { channels in
        let shapes: [Shape] = [[2, channels, 5, 6], [channels, channels, 1, 1]]
        return sweep("conv2d 1×1 square \(channels)", shapes.map { CaseInput($0, .signed) }) {
            conv2d($0[0], weight: $0[1])
        }
    }

    private static func axes(_ make: (Int, Int) -> [OperationCase]) -> [OperationCase] {
        (1...5).flatMap { rank in (0..<rank).flatMap { make(rank, $0) } }
    }
}

import RetintGraph

/// Cases of operations that are lowered to MIL in several ways.
extension OperationTable {
    static let lowered: [OperationCase] = [
        OperationCase(
            "largest elements as MIL", [2, 5, 3], checks: .unrecorded,
            mil: ["reduce_argmax", "gather_along_axis"]
        ) {
            gather($0[0], axis: 1, indices: topIndices($0[0], 1, axis: 1))
        },
        OperationCase(
            "gather at computed places as MIL", [2, 5, 3], [2, 5, 3], checks: .unrecorded,
            mil: ["argsort", "slice_by_index", "gather_along_axis"]
        ) {
            gather($0[0], axis: 1, indices: topIndices($0[1], 2, axis: 1))
        },
        OperationCase(
            "places as numbers as MIL", [2, 5, 3], [2, 5, 3], checks: .unrecorded,
            mil: ["argsort", "cast", "mul"]
        ) {
            topIndices($0[0], 5, axis: 1) * $0[1]
        },
        OperationCase(
            "scatter at computed places as MIL", [2, 5, 3], [2, 5, 3], [2, 2, 3],
            checks: .unrecorded,
            mil: ["argsort", "slice_by_index", "fill", "scatter_along_axis", "add"]
        ) {
            scatterAdd($0[0], axis: 1, indices: topIndices($0[1], 2, axis: 1), $0[2])
        },
        OperationCase("sin as MIL", [2, 3, 5], checks: .unrecorded, mil: ["sin"]) { sin($0[0]) },
        OperationCase("cos as MIL", [2, 3, 5], checks: .unrecorded, mil: ["cos"]) { cos($0[0]) },
        OperationCase("atan as MIL", [2, 3, 5], checks: .unrecorded, mil: ["atan"]) { atan($0[0]) },
        OperationCase(
            "conv as MIL", [2, 3, 7, 9], [4, 3, 3, 3], [4], weights: 2, checks: .unrecorded,
            mil: ["conv"]
        ) {
            conv2d($0[0], weight: $0[1], bias: $0[2], stride: 2, padding: 1)
        },
        OperationCase(
            "conv dilated as MIL", [1, 3, 9, 8], [4, 3, 3, 3], weights: 1, checks: .unrecorded,
            mil: ["conv"]
        ) {
            let padding = Padding(top: 2, bottom: 1, left: 0, right: 3)
            return conv2d($0[0], weight: $0[1], padding: padding, dilation: 2)
        },
        OperationCase(
            "conv depthwise as MIL", [1, 6, 5, 7], [12, 1, 3, 3], [12], weights: 2,
            checks: .unrecorded, mil: ["conv"]
        ) {
            conv2d($0[0], weight: $0[1], bias: $0[2], padding: 1, groups: 6)
        },
        OperationCase(
            "conv of computed weight as MIL", [1, 3, 5, 5], [2, 3, 3, 3], checks: .unrecorded,
            mil: ["conv"]
        ) { x in
            conv2d(x[0], weight: x[1])
        },
        OperationCase(
            "conv_transpose as MIL", [2, 3, 4, 5], [3, 2, 4, 4], [2], weights: 2,
            checks: .unrecorded, mil: ["conv_transpose"]
        ) {
            convTranspose2d($0[0], weight: $0[1], bias: $0[2], stride: 2, padding: 1)
        },
        OperationCase(
            "conv_transpose groups as MIL", [1, 4, 4, 5], [4, 3, 3, 3], weights: 1,
            checks: .unrecorded, mil: ["conv_transpose"]
        ) {
            convTranspose2d($0[0], weight: $0[1], dilation: 2, groups: 2)
        },
        OperationCase(
            "conv_transpose cropped as MIL", [2, 3, 4, 5], [3, 2, 3, 3], [2], weights: 2,
            checks: .unrecorded, mil: ["conv_transpose", "crop"]
        ) {
            convTranspose2d(
                $0[0], weight: $0[1], bias: $0[2], stride: 2, padding: 1, outputPadding: 1)
        },
        OperationCase(
            "conv_transpose padded as MIL", [1, 3, 4, 5], [3, 2, 2, 2], [2], weights: 2,
            checks: .unrecorded, mil: ["conv_transpose", "pad", "add"]
        ) {
            convTranspose2d($0[0], weight: $0[1], bias: $0[2], stride: 3, outputPadding: Pair(2, 1))
        },
        OperationCase(
            "conv_transpose cropped and padded as MIL", [1, 3, 4, 5], [3, 2, 2, 3], [2], weights: 2,
            checks: .unrecorded, mil: ["conv_transpose", "crop", "pad", "add"]
        ) {
            let padding = Padding(top: 1, bottom: 0, left: 0, right: 1)
            return convTranspose2d(
                $0[0], weight: $0[1], bias: $0[2], stride: 2, padding: padding, outputPadding: 1)
        },
        OperationCase(
            "batch_norm as MIL", .positive([2, 4, 6, 8]), .positive([4]), .positive([4]),
            .positive([4]), .positive([4]), weights: 4, checks: .unrecorded, mil: ["batch_norm"]
        ) {
            batchNorm($0[0], weight: $0[1], bias: $0[2], mean: $0[3], variance: $0[4])
        },
        OperationCase(
            "batch_norm of vectors as MIL", .positive([3, 4]), .positive([4]), .positive([4]),
            .positive([4]), .positive([4]), weights: 4, checks: .unrecorded, mil: ["mul", "add"]
        ) {
            batchNorm($0[0], weight: $0[1], bias: $0[2], mean: $0[3], variance: $0[4])
        },
        OperationCase(
            "batch_norm folded as MIL", .positive([2, 3, 5, 5]), .positive([4, 3, 3, 3]),
            .positive([4]), .positive([4]), .positive([4]), .positive([4]), .positive([4]),
            weights: 6, checks: .unrecorded, mil: ["conv"]
        ) {
            let y = conv2d($0[0], weight: $0[1], bias: $0[2], padding: 1)
            return batchNorm(y, weight: $0[3], bias: $0[4], mean: $0[5], variance: $0[6])
        },
        OperationCase(
            "batch_norm of a value used twice as MIL", .positive([1, 3, 5, 5]),
            .positive([3, 3, 1, 1]), .positive([3]), .positive([3]), .positive([3]), .positive([3]),
            weights: 5, checks: .unrecorded, mil: ["conv", "batch_norm", "add"]
        ) {
            let y = conv2d($0[0], weight: $0[1])
            return y + batchNorm(y, weight: $0[2], bias: $0[3], mean: $0[4], variance: $0[5])
        },
        OperationCase(
            "linear as MIL", [3, 5], [4, 5], [4], weights: 2, checks: .unrecorded, mil: ["linear"]
        ) {
            linear($0[0], weight: $0[1], bias: $0[2])
        },
        OperationCase(
            "linear without bias as MIL", [2, 3, 5], [4, 5], weights: 1, checks: .unrecorded,
            mil: ["linear"]
        ) {
            linear($0[0], weight: $0[1])
        },
        OperationCase(
            "matmul as MIL", [2, 3, 5], [2, 5, 4], checks: .unrecorded, mil: ["matmul"]
        ) { x in matmul(x[0], x[1]) },
        OperationCase(
            "matmul transposed as MIL", [5, 3], [4, 5], checks: .unrecorded, mil: ["matmul"]
        ) { x in
            matmul(x[0], x[1], transposeX: true, transposeY: true)
        },
        OperationCase(
            "softmax as MIL", .distinct([2, 4, 6, 8]), checks: .unrecorded, mil: ["softmax"]
        ) { softmax($0[0], axis: 1) },
        OperationCase(
            "log_softmax as MIL", .distinct([2, 4, 6, 8]), checks: .unrecorded,
            mil: ["reduce_max", "sub", "exp", "reduce_sum", "log", "sub"]
        ) { logSoftmax($0[0], axis: -1) },
        OperationCase(
            "reduce_sum as MIL", [2, 4, 6, 8], checks: .unrecorded, mil: ["reduce_sum"]
        ) { $0[0].sum(axes: [1, -1]) },
        OperationCase(
            "reduce_mean as MIL", [2, 4, 6, 8], checks: .unrecorded, mil: ["reduce_mean"]
        ) { $0[0].mean(axes: [2, 3], keepDims: true) },
        OperationCase(
            "reduce_max as MIL", .distinct([2, 4, 6, 8]), checks: .unrecorded, mil: ["reduce_max"]
        ) { $0[0].max(axes: [0]) },
        OperationCase(
            "reshape as MIL", [2, 4, 6, 8], checks: .unrecorded, mil: ["reshape"]
        ) { $0[0].reshaped([8, 48]) },
        OperationCase(
            "transpose as MIL", [2, 4, 6, 8], checks: .unrecorded, mil: ["transpose"]
        ) { $0[0].transposed([0, 2, 3, 1]) },
        OperationCase(
            "tile as MIL", [2, 4, 6, 8], checks: .unrecorded, mil: ["slice_by_index", "tile"]
        ) { $0[0].sliced(axis: 1, 0..<1).broadcast(to: [2, 5, 6, 8]) },
        OperationCase(
            "tile of lower rank as MIL", .distinct([2, 4, 6, 8]), checks: .unrecorded,
            mil: ["reduce_max", "reshape", "tile"]
        ) { $0[0].max(axes: [0]).broadcast(to: [3, 4, 6, 8]) },
        OperationCase(
            "pad as MIL", [2, 4, 6, 8], checks: .unrecorded, mil: ["pad"]
        ) { $0[0].padded(before: [0, 1, 2, 0], after: [0, 2, 0, 3], value: 0.5) },
        OperationCase(
            "slice as MIL", [2, 4, 6, 8], checks: .unrecorded, mil: ["slice_by_index"]
        ) { $0[0].sliced(from: [1, 0, 1, 2], to: [2, 4, 6, 7], stride: [1, 2, 2, 3]) },
        OperationCase(
            "upsample_bilinear as MIL", [2, 4, 6, 8], checks: .unrecorded,
            mil: ["upsample_bilinear"]
        ) { upsampleBilinear($0[0], factor: Pair(4, 3)) },
        OperationCase(
            "upsample_bilinear aligned as MIL", [2, 4, 6, 8], checks: .unrecorded,
            mil: ["upsample_bilinear"]
        ) { upsampleBilinear($0[0], factor: 2, alignCorners: true) },
        OperationCase(
            "upsample_nearest as MIL", [2, 4, 6, 8], checks: .unrecorded,
            mil: ["upsample_nearest_neighbor"]
        ) { upsampleNearest($0[0], factor: Pair(2, 3)) },
        OperationCase(
            "pixel_shuffle as MIL", [2, 4, 6, 8], checks: .unrecorded, mil: ["pixel_shuffle"]
        ) { pixelShuffle($0[0], factor: 2) },
        OperationCase(
            "pixel_unshuffle as MIL", [2, 4, 6, 8], checks: .unrecorded,
            mil: ["reshape", "transpose", "reshape"]
        ) { pixelUnshuffle($0[0], factor: 2) },
        OperationCase(
            "max_pool as MIL", .distinct([2, 4, 6, 8]), checks: .unrecorded, mil: ["max_pool"]
        ) { maxPool2d($0[0], kernel: 3, stride: 2, padding: 1) },
        OperationCase(
            "avg_pool as MIL", [2, 4, 6, 8], checks: .unrecorded, mil: ["avg_pool"]
        ) { avgPool2d($0[0], kernel: 2, padding: 1) },
        OperationCase(
            "avg_pool without padding as MIL", [2, 4, 6, 8], checks: .unrecorded, mil: ["avg_pool"]
        ) { avgPool2d($0[0], kernel: 3, stride: 2, padding: 1, countIncludePad: false) },
        OperationCase(
            "concat as MIL", [2, 4, 6, 8], [2, 3, 6, 8], checks: .unrecorded, mil: ["concat"]
        ) { concat([$0[0], $0[1], $0[0]], axis: 1) },
        OperationCase(
            "concat with weights as MIL", [1, 4], [1, 3], weights: 1, checks: .unrecorded,
            mil: ["concat"]
        ) { concat($0, axis: -1) },
    ]
}

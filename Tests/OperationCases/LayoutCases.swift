import RetintGraph
import RetintTensors

extension OperationTable {
    static let layouts: [OperationCase] = [
        OperationCase("reshape 4 to 1", [2, 3, 4, 5]) { $0[0].reshaped([120]) },
        OperationCase("reshape 4 to 2", [2, 3, 4, 5]) { $0[0].reshaped([6, 20]) },
        OperationCase("reshape 1 to 4", [120]) { $0[0].reshaped([2, 3, 4, 5]) },
        OperationCase("reshape 4 to 4", [2, 3, 4, 5]) { $0[0].reshaped([5, 2, 3, 4]) },
        OperationCase("reshape 4 to 5", [2, 6, 4, 5]) { $0[0].reshaped([2, 3, 2, 4, 5]) },
        OperationCase("reshape 5 to 4", [2, 3, 2, 4, 5]) { $0[0].reshaped([2, 6, 4, 5]) },
        OperationCase("reshape 4 to 3", [2, 17, 4, 5]) { $0[0].reshaped([2, 17, 20]) },
        OperationCase("reshape 3 to 4", [2, 17, 20]) { $0[0].reshaped([2, 17, 5, 4]) },
        OperationCase("reshape 2 to 4", [7, 1]) { $0[0].reshaped([1, 7, 1, 1]) },
        OperationCase("reshape 0 to 4", []) { $0[0].reshaped([1, 1, 1, 1]) },
        OperationCase("reshape 4 to 0", [1, 1, 1, 1]) { $0[0].reshaped([]) },
        OperationCase(
            "reshape 3 to 0", [1, 1, 1], [2, 3], checks: .unrecorded, mil: ["squeeze", "mul"]
        ) { $0[0].reshaped([]) * $0[1] },
        OperationCase("transpose matrix", [3, 7]) { $0[0].transposed([1, 0]) },
        OperationCase("transpose rank 3", [2, 3, 7]) { $0[0].transposed([2, 0, 1]) },
        OperationCase("transpose to last", [2, 3, 4, 5]) { $0[0].transposed([0, 2, 3, 1]) },
        OperationCase("transpose from last", [2, 4, 5, 3]) { $0[0].transposed([0, 3, 1, 2]) },
        OperationCase("transpose rank 4", [2, 3, 4, 5]) { $0[0].transposed([3, 1, 0, 2]) },
        OperationCase("transpose rank 5", [2, 3, 1, 4, 5]) { $0[0].transposed([0, 3, 1, 4, 2]) },
        OperationCase("transpose 131k", [2, 64, 33, 31]) { $0[0].transposed([1, 3, 0, 2]) },
        OperationCase("transpose computed square", [37, 37]) { exp($0[0]).transposed([1, 0]) },
        OperationCase("transpose meets itself", [2, 5, 33, 33]) {
            let x = exp($0[0])
            return x.transposed([0, 1, 3, 2]) * 0.5 + x
        },
        OperationCase("reshape meets itself", [1, 37]) {
            let x = exp($0[0])
            return x + x.reshaped([37])
        },
        OperationCase("tokens", [2, 6, 4, 5], [6, 7]) {
            matmul($0[0].reshaped([2, 6, 20]).transposed([0, 2, 1]), $0[1])
                .transposed([0, 2, 1]).reshaped([2, 7, 4, 5])
        },
        OperationCase("slice", [3, 5, 7]) { $0[0].sliced(from: [1, 0, 2], to: [3, 4, 7]) },
        OperationCase("slice strides", [3, 5, 7, 11]) {
            $0[0].sliced(from: [0, 1, 2, 0], to: [3, 5, 7, 10], stride: [2, 3, 1, 4])
        },
        OperationCase("slice channels", [2, 17, 3, 5]) { $0[0].sliced(axis: 1, 3..<11) },
        OperationCase("slice last axis", [2, 17, 3, 5]) { $0[0].sliced(axis: -1, 2..<3) },
        OperationCase("slice rank 1", [17]) { $0[0].sliced(from: [3], to: [16], stride: [5]) },
        OperationCase("subsample", [2, 3, 7, 6]) { $0[0].subsampled(by: 2) },
        OperationCase("subsample by 3 of 131k", [2, 64, 33, 31]) { $0[0].subsampled(by: 3) },
        OperationCase("slice_scatter", [2, 3, 2]) {
            try pullback($0[0], to: [3, 5, 7]) {
                $0.sliced(from: [1, 0, 2], to: [3, 5, 5], stride: [1, 2, 2])
            }
        },
        OperationCase("slice_scatter pixels", [2, 3, 3, 2]) {
            try pullback($0[0], to: [2, 3, 6, 3]) { $0.subsampled(by: 2) }
        },
        OperationCase("pad", [2, 3, 4, 5]) {
            $0[0].padded(before: [0, 0, 1, 2], after: [0, 0, 3, 0])
        },
        OperationCase("pad with a number", [2, 3, 4, 5]) {
            $0[0].padded(before: [0, 1, 0, 1], after: [1, 2, 0, 0], value: -2.5)
        },
        OperationCase("pad rank 1", [7]) { $0[0].padded(before: [2], after: [3], value: 1) },
        OperationCase("pad rank 5", [2, 1, 3, 2, 2]) {
            $0[0].padded(before: [0, 1, 0, 2, 0], after: [1, 0, 0, 0, 3])
        },
        OperationCase("concat channels", [2, 3, 4, 5], [2, 17, 4, 5]) {
            concat([$0[0], $0[1]], axis: 1)
        },
        OperationCase("concat three", [2, 1, 3, 5], [2, 4, 3, 5], [2, 2, 3, 5]) {
            concat($0, axis: -3)
        },
        OperationCase("concat rows", [2, 3, 4, 5], [2, 3, 1, 5]) { concat($0, axis: 2) },
        OperationCase("concat columns", [2, 3, 4, 5], [2, 3, 4, 2]) { concat($0, axis: -1) },
        OperationCase("concat samples", [1, 3, 4, 5], [2, 3, 4, 5]) { concat($0, axis: 0) },
        OperationCase("concat twice the same", [2, 3, 5]) { concat([$0[0], $0[0]], axis: 2) },
        OperationCase("concat one", [3, 5]) { concat($0, axis: 0) },
        OperationCase("concat rank 1", [3], [1], [7]) { concat($0, axis: 0) },
        OperationCase("concat of 131k", [2, 32, 33, 31], [2, 32, 33, 31]) { concat($0, axis: 1) },
        OperationCase("pixel_shuffle", [2, 12, 3, 5]) { pixelShuffle($0[0], factor: 2) },
        OperationCase("pixel_shuffle 3", [1, 9, 2, 3]) { pixelShuffle($0[0], factor: 3) },
        OperationCase("pixel_shuffle 4 of 131k", [2, 64, 33, 31]) {
            pixelShuffle($0[0], factor: 4)
        },
        OperationCase("pixel_unshuffle", [2, 3, 6, 4]) { pixelUnshuffle($0[0], factor: 2) },
        OperationCase("pixel_unshuffle 3", [2, 1, 6, 9]) { pixelUnshuffle($0[0], factor: 3) },
    ]

    /// The gradient of Σ function(x) · y with respect to x of `shape`, which for a linear function
    /// does not depend on x.
    static func pullback(
        _ y: Tensor, to shape: Shape, _ function: (Tensor) -> Tensor
    ) throws(GraphError) -> Tensor {
        let x = y.graph.constant(TensorData(shape: shape, repeating: 0))
        return try gradients(of: (function(x) * y).sum(), withRespectTo: [x])[0]
    }
}

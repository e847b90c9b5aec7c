import RetintGraph

extension OperationTable {
    static let reductions: [OperationCase] = [
        OperationCase("sum of all", [2, 3, 4, 5]) { $0[0].sum() },
        OperationCase("sum rank 0", []) { $0[0].sum() },
        OperationCase("sum rank 1", [17]) { $0[0].sum(keepDims: true) },
        OperationCase("sum channels away", [2, 17, 4, 5]) { $0[0].sum(axes: [1]) },
        OperationCase("sum pixels", [2, 17, 4, 5]) { $0[0].sum(axes: [2, 3]) },
        OperationCase("sum all but channels", [2, 17, 4, 5]) { $0[0].sum(axes: [0, 2, 3]) },
        OperationCase("sum negative axes", [2, 3, 5]) { $0[0].sum(axes: [-1, 0], keepDims: true) },
        OperationCase("sum rank 5", [2, 3, 2, 4, 3]) { $0[0].sum(axes: [1, 3]) },
        OperationCase("sum of 131k", [2, 64, 33, 31]) { $0[0].sum(axes: [0, 2, 3]) },
        OperationCase("sum of all 131k", [2, 64, 33, 31]) { $0[0].sum() },
        OperationCase("mean of all", [2, 3, 4, 5]) { $0[0].mean() },
        OperationCase("mean pixels", [2, 17, 4, 5]) { $0[0].mean(axes: [2, 3], keepDims: true) },
        OperationCase("mean rows", [7, 11]) { $0[0].mean(axes: [0]) },
        OperationCase("mean rank 3", [3, 5, 7]) { $0[0].mean(axes: [-1]) },
        OperationCase("mean of 131k", [2, 64, 33, 31]) { $0[0].mean(axes: [-2, -1]) },
        OperationCase("max of all", .distinct([2, 3, 4, 5])) { $0[0].max() },
        OperationCase("max of all ties", .integers([3, 5, 7])) { $0[0].max() },
        OperationCase("max pixels", .distinct([2, 17, 4, 5])) { $0[0].max(axes: [2, 3]) },
        OperationCase("max channels ties", .integers([2, 17, 4, 5])) {
            $0[0].max(axes: [1], keepDims: true)
        },
        OperationCase("max rank 2", .distinct([7, 11])) { $0[0].max(axes: [-1]) },
        OperationCase("max rank 5", .distinct([2, 3, 2, 4, 3])) { $0[0].max(axes: [0, 4]) },
        OperationCase("softmax channels", [2, 17, 3, 5]) { softmax($0[0], axis: 1) },
        OperationCase("softmax wide", .wide([2, 17, 3, 5])) { softmax($0[0], axis: -3) },
        OperationCase("softmax last", [2, 3, 7]) { softmax($0[0], axis: -1) },
        OperationCase("softmax first", [7, 3]) { softmax($0[0], axis: 0) },
        OperationCase("softmax rank 1", [313]) { softmax($0[0], axis: 0) },
        OperationCase("softmax far from 0", [3, 5]) { softmax($0[0] * 4 + 300, axis: 1) },
        OperationCase("softmax 313 bins", .wide([2, 313, 17, 13])) { softmax($0[0], axis: 1) },
        OperationCase("log_softmax channels", [2, 17, 3, 5]) { logSoftmax($0[0], axis: 1) },
        OperationCase("log_softmax wide", .wide([5, 31])) { logSoftmax($0[0], axis: 1) },
        OperationCase("log_softmax rank 5", [2, 3, 2, 4, 3]) { logSoftmax($0[0], axis: 2) },
        OperationCase("log_softmax 313 bins", .wide([2, 313, 17, 13])) {
            logSoftmax($0[0], axis: 1)
        },
        OperationCase("fake_quantize", .wide([17, 5, 3, 3]), checks: .straightThrough) {
            $0[0].fakeQuantized(bits: 8, axis: 0)
        },
        OperationCase("fake_quantize transposed", .wide([5, 17, 4, 4]), checks: .straightThrough) {
            $0[0].fakeQuantized(bits: 4, axis: 1)
        },
        OperationCase("fake_quantize rows", .wide([11, 7]), checks: .straightThrough) {
            $0[0].fakeQuantized(bits: 4, axis: 0)
        },
        OperationCase("fake_quantize whole", .wide([5, 3, 2, 3]), checks: .straightThrough) {
            $0[0].fakeQuantized(bits: 8, axis: nil)
        },
        // With codes beyond both ends.
        OperationCase(
            "fake_quantize_input", .wide([2, 5, 7, 3]), .positive([]), checks: .straightThrough
        ) { $0[0].graph.apply(FakeQuantizeInput(), [$0[0] * 20, $0[1] * 0.5]) },
        OperationCase(
            "fake_quantize_input inside", .wide([3, 1031]), .positive([]), checks: .straightThrough
        ) { $0[0].graph.apply(FakeQuantizeInput(), [$0[0], $0[1]]) },
    ]
}

import RetintGraph

extension OperationTable {
    static let matrices: [OperationCase] = [
        OperationCase("matmul", [5, 7], [7, 3]) { matmul($0[0], $0[1]) },
        OperationCase("matmul x transposed", [7, 5], [7, 3]) {
            matmul($0[0], $0[1], transposeX: true)
        },
        OperationCase("matmul y transposed", [5, 7], [3, 7]) {
            matmul($0[0], $0[1], transposeY: true)
        },
        OperationCase("matmul both transposed", [7, 5], [3, 7]) {
            matmul($0[0], $0[1], transposeX: true, transposeY: true)
        },
        OperationCase("matmul batches", [2, 3, 5, 7], [2, 3, 7, 4]) { matmul($0[0], $0[1]) },
        OperationCase("matmul batches both transposed", [3, 7, 5], [3, 4, 7]) {
            matmul($0[0], $0[1], transposeX: true, transposeY: true)
        },
        OperationCase("matmul by one matrix", [2, 5, 7], [7, 3]) { matmul($0[0], $0[1]) },
        OperationCase("matmul x transposed by one matrix", [2, 7, 5], [7, 3]) {
            matmul($0[0], $0[1], transposeX: true)
        },
        OperationCase("matmul both transposed by one matrix", [2, 3, 7, 5], [4, 7]) {
            matmul($0[0], $0[1], transposeX: true, transposeY: true)
        },
        OperationCase("matmul outer", [17, 1], [1, 5]) { matmul($0[0], $0[1]) },
        OperationCase("matmul inner", [1, 17], [17, 1]) { matmul($0[0], $0[1]) },
        OperationCase("matmul large", [131, 257], [257, 99]) { matmul($0[0], $0[1]) },
        OperationCase("matmul large batches", [3, 67, 129], [3, 129, 65]) { matmul($0[0], $0[1]) },
        OperationCase("linear", [5, 7], [3, 7], [3]) { linear($0[0], weight: $0[1], bias: $0[2]) },
        OperationCase("linear rank 3", [2, 5, 7], [3, 7], [3]) {
            linear($0[0], weight: $0[1], bias: $0[2])
        },
        OperationCase("linear rank 4", [2, 3, 5, 7], [4, 7], [4]) {
            linear($0[0], weight: $0[1], bias: $0[2])
        },
    ]

    static let normalizations: [OperationCase] = [
        OperationCase("batch_norm", [2, 5, 3, 4], [5], [5], [5], .positive([5])) { inference($0) },
        OperationCase("batch_norm rank 2", [7, 17], [17], [17], [17], .positive([17])) {
            inference($0)
        },
        OperationCase("batch_norm rank 3", [2, 5, 7], [5], [5], [5], .positive([5])) {
            inference($0, epsilon: 1e-3)
        },
        OperationCase("batch_norm rank 5", [2, 3, 2, 3, 2], [3], [3], [3], .positive([3])) {
            inference($0)
        },
        OperationCase(
            "batch_norm of 131k", [2, 64, 33, 31], [64], [64], [64], .positive([64])
        ) { inference($0) },
        OperationCase("batch_norm_training", [2, 5, 3, 4], [5], [5]) {
            batchNormTraining($0[0], weight: $0[1], bias: $0[2]).output
        },
        OperationCase("batch_norm_training rank 2", [7, 17], [17], [17]) {
            batchNormTraining($0[0], weight: $0[1], bias: $0[2]).output
        },
        OperationCase("batch_norm_training rank 3", .positive([2, 5, 7]), [5], [5]) {
            batchNormTraining($0[0], weight: $0[1], bias: $0[2], epsilon: 1e-3).output
        },
        OperationCase("batch_norm_training rank 5", [2, 3, 2, 3, 2], [3], [3]) {
            batchNormTraining($0[0], weight: $0[1], bias: $0[2]).output
        },
        OperationCase("batch_norm_training one sample", [1, 17, 3, 5], [17], [17]) {
            batchNormTraining($0[0], weight: $0[1], bias: $0[2]).output
        },
        OperationCase(
            "batch_norm_training of a convolution", [3, 16, 9, 11], [32, 16, 3, 3], [32], [32]
        ) {
            let y = conv2d($0[0], weight: $0[1], padding: 1)
            return tanh(batchNormTraining(y, weight: $0[2], bias: $0[3]).output)
        },
        OperationCase(
            "batch_norm_training of a depthwise convolution", [2, 17, 9, 7], [17, 1, 3, 3], [17],
            [17]
        ) {
            let y = conv2d($0[0], weight: $0[1], stride: 2, groups: 17)
            return tanh(batchNormTraining(y, weight: $0[2], bias: $0[3]).output)
        },
        OperationCase("batch_norm_training of a sum", [2, 5, 9, 7], [2, 5, 9, 7], [5], [5]) {
            let y = batchNormTraining($0[0] + $0[1], weight: $0[2], bias: $0[3]).output
            return $0[1] + tanh(y)
        },
        OperationCase("batch_norm_training far from 0", .wide([2, 3, 5, 5]), [3], [3]) {
            batchNormTraining($0[0] + 100, weight: $0[1], bias: $0[2]).output
        },
        OperationCase("batch_norm_training of 131k", [2, 64, 33, 31], [64], [64]) {
            batchNormTraining($0[0], weight: $0[1], bias: $0[2]).output
        },
        OperationCase("batch_moments", .wide([2, 17, 5, 3]), [17], checks: .forward) {
            batchNormTraining($0[0], weight: $0[1], bias: $0[1]).moments
        },
        OperationCase("batch_moments rank 2", .positive([11, 5]), [5], checks: .forward) {
            batchNormTraining($0[0], weight: $0[1], bias: $0[1]).moments
        },
    ]

    private static func inference(_ x: [Tensor], epsilon: Float = 1e-5) -> Tensor {
        batchNorm(
            x[0], weight: x[1], bias: x[2], mean: x[3], variance: x[4], epsilon: epsilon)
    }
}

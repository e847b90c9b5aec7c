import RetintGraph

extension OperationTable {
    static let pools: [OperationCase] = [
        OperationCase("max_pool2d", .distinct([2, 3, 6, 4])) { maxPool2d($0[0], kernel: 2) },
        OperationCase("max_pool2d rows left", .distinct([2, 3, 7, 5])) {
            maxPool2d($0[0], kernel: 2)
        },
        OperationCase("max_pool2d padded", .distinct([2, 17, 7, 9])) {
            maxPool2d($0[0], kernel: 3, stride: 2, padding: 1)
        },
        OperationCase("max_pool2d overlapping", .distinct([1, 5, 6, 5])) {
            maxPool2d($0[0], kernel: 3, stride: 1, padding: 1)
        },
        OperationCase("max_pool2d 3×2", .distinct([1, 5, 7, 6])) {
            maxPool2d($0[0], kernel: Pair(3, 2), stride: Pair(2, 1))
        },
        OperationCase("max_pool2d asymmetric padding", .distinct([2, 3, 6, 5])) {
            maxPool2d(
                $0[0], kernel: 3, stride: 2, padding: Padding(top: 0, bottom: 1, left: 1, right: 0))
        },
        OperationCase("max_pool2d of all", .distinct([2, 3, 4, 5])) {
            maxPool2d($0[0], kernel: Pair(4, 5))
        },
        OperationCase("max_pool2d ties", .integers([2, 5, 9, 8])) {
            maxPool2d(clip($0[0], min: -1, max: 1), kernel: 3, stride: 2, padding: 1)
        },
        OperationCase("max_pool2d of 131k", .distinct([2, 64, 33, 31])) {
            maxPool2d($0[0], kernel: 3, stride: 2, padding: 1)
        },
        OperationCase("avg_pool2d", [2, 3, 6, 4]) { avgPool2d($0[0], kernel: 2) },
        OperationCase("avg_pool2d rows left", [2, 3, 7, 5]) { avgPool2d($0[0], kernel: 2) },
        OperationCase("avg_pool2d padded", [2, 17, 7, 9]) {
            avgPool2d($0[0], kernel: 3, stride: 2, padding: 1)
        },
        OperationCase("avg_pool2d padding left out", [2, 5, 7, 9]) {
            avgPool2d($0[0], kernel: 3, stride: 2, padding: 1, countIncludePad: false)
        },
        OperationCase("avg_pool2d overlapping", [1, 5, 6, 5]) {
            avgPool2d($0[0], kernel: Pair(3, 2), stride: 1)
        },
        OperationCase("avg_pool2d asymmetric padding", [2, 3, 6, 5]) {
            avgPool2d(
                $0[0], kernel: 3, stride: 2, padding: Padding(top: 0, bottom: 1, left: 1, right: 0))
        },
        OperationCase("avg_pool2d asymmetric padding left out", [2, 3, 6, 5]) {
            avgPool2d(
                $0[0], kernel: 3, stride: 2, padding: Padding(top: 0, bottom: 1, left: 1, right: 0),
                countIncludePad: false)
        },
        OperationCase("avg_pool2d of 131k", [2, 64, 33, 31]) {
            avgPool2d($0[0], kernel: 3, stride: 2, padding: 1)
        },
        OperationCase("avg_pool2d_input", [2, 3, 4, 5]) {
            try pullback($0[0], to: [2, 3, 7, 9]) {
                avgPool2d($0, kernel: 3, stride: 2, padding: 1, countIncludePad: false)
            }
        },
        OperationCase("global_avg_pool2d", [2, 17, 5, 3]) { globalAvgPool2d($0[0]) },
    ]

    static let upsamplings: [OperationCase] = [
        OperationCase("upsample_bilinear2d 2", [2, 3, 4, 5]) { upsampleBilinear($0[0], factor: 2) },
        OperationCase("upsample_bilinear2d 2 aligned", [2, 3, 4, 5]) {
            upsampleBilinear($0[0], factor: 2, alignCorners: true)
        },
        OperationCase("upsample_bilinear2d 4", [1, 17, 3, 2]) {
            upsampleBilinear($0[0], factor: 4)
        },
        OperationCase("upsample_bilinear2d 4 aligned", [1, 17, 3, 2]) {
            upsampleBilinear($0[0], factor: 4, alignCorners: true)
        },
        OperationCase("upsample_bilinear2d 3×2", [2, 2, 3, 5]) {
            upsampleBilinear($0[0], factor: Pair(3, 2))
        },
        OperationCase("upsample_bilinear2d 1×2 aligned", [2, 2, 1, 5]) {
            upsampleBilinear($0[0], factor: Pair(1, 2), alignCorners: true)
        },
        OperationCase("upsample_bilinear2d 2 of 19 channels", [2, 19, 3, 5]) {
            upsampleBilinear($0[0], factor: 2)
        },
        OperationCase("upsample_bilinear2d 2 of two channels", [2, 2, 3, 19]) {
            upsampleBilinear($0[0], factor: 2)
        },
        OperationCase("upsample_bilinear2d 3×2 of 16 channels", [1, 16, 2, 4]) {
            upsampleBilinear($0[0], factor: Pair(3, 2))
        },
        OperationCase("upsample_bilinear2d one pixel", [1, 3, 1, 1]) {
            upsampleBilinear($0[0], factor: 4)
        },
        OperationCase("upsample_bilinear2d of 65k", [1, 64, 33, 31]) {
            upsampleBilinear($0[0], factor: 2)
        },
        OperationCase("upsample_bilinear2d 4 of two channels", [1, 2, 33, 31]) {
            upsampleBilinear($0[0], factor: 4)
        },
        OperationCase("upsample_bilinear2d_input", [2, 3, 6, 8]) {
            try pullback($0[0], to: [2, 3, 3, 4]) { upsampleBilinear($0, factor: 2) }
        },
        OperationCase("upsample_bilinear2d_input aligned", [2, 3, 6, 8]) {
            try pullback($0[0], to: [2, 3, 3, 4]) {
                upsampleBilinear($0, factor: 2, alignCorners: true)
            }
        },
        OperationCase("upsample_nearest2d 2", [2, 3, 4, 5]) { upsampleNearest($0[0], factor: 2) },
        OperationCase("upsample_nearest2d 3×2", [1, 17, 2, 3]) {
            upsampleNearest($0[0], factor: Pair(3, 2))
        },
        OperationCase("upsample_nearest2d of 65k", [1, 64, 33, 31]) {
            upsampleNearest($0[0], factor: 2)
        },
    ]
}

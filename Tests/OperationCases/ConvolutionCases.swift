import RetintGraph

extension OperationTable {
    static let convolutions: [OperationCase] = [
        OperationCase("conv2d", [2, 3, 7, 9], [4, 3, 3, 3], [4]) {
            conv2d($0[0], weight: $0[1], bias: $0[2], padding: 1)
        },
        conv("conv2d no bias", [2, 3, 7, 9], [4, 3, 3, 3]),
        conv("conv2d stride 2 odd", [2, 3, 9, 7], [4, 3, 3, 3], stride: 2, padding: 1),
        conv("conv2d stride 2 with rows left", [1, 3, 8, 10], [4, 3, 3, 3], stride: 2),
        conv("conv2d stride 1×3", [2, 2, 5, 8], [3, 2, 3, 2], stride: Pair(1, 3)),
        conv(
            "conv2d asymmetric padding", [2, 3, 6, 5], [4, 3, 3, 3], stride: 2,
            padding: Padding(top: 0, bottom: 1, left: 2, right: 1)),
        conv("conv2d dilation 2", [2, 3, 9, 8], [4, 3, 3, 3], padding: 2, dilation: 2),
        conv("conv2d dilation 2 stride 2", [1, 3, 9, 8], [4, 3, 3, 3], stride: 2, dilation: 2),
        conv("conv2d dilation 1×3", [1, 2, 5, 9], [3, 2, 2, 3], dilation: Pair(1, 3)),
        conv("conv2d groups 2", [2, 4, 5, 7], [6, 2, 3, 3], padding: 1, groups: 2),
        conv("conv2d groups 3 stride 2", [1, 6, 7, 5], [9, 2, 3, 3], stride: 2, groups: 3),
        conv("conv2d depthwise", [2, 17, 7, 5], [17, 1, 3, 3], padding: 1, groups: 17),
        conv(
            "conv2d depthwise stride 2", [2, 16, 7, 6], [16, 1, 3, 3], stride: 2, padding: 1,
            groups: 16),
        conv("conv2d depthwise 5×5", [1, 8, 9, 7], [8, 1, 5, 5], padding: 2, groups: 8),
        conv(
            "conv2d depthwise dilation 2", [1, 5, 9, 7], [5, 1, 3, 3], padding: 2, dilation: 2,
            groups: 5),
        conv("conv2d depthwise two each", [2, 3, 5, 5], [6, 1, 3, 3], padding: 1, groups: 3),
        OperationCase("conv2d depthwise bias", [1, 9, 6, 5], [9, 1, 3, 3], [9]) {
            conv2d($0[0], weight: $0[1], bias: $0[2], padding: 1, groups: 9)
        },
        conv("conv2d 1×1", [2, 17, 5, 3], [11, 17, 1, 1]),
        OperationCase("conv2d 1×1 bias", [2, 5, 4, 3], [313, 5, 1, 1], [313]) {
            conv2d($0[0], weight: $0[1], bias: $0[2])
        },
        conv("conv2d 1×1 stride 2", [2, 5, 7, 6], [3, 5, 1, 1], stride: 2),
        conv("conv2d 1×1 padded", [1, 3, 3, 2], [4, 3, 1, 1], padding: 1),
        conv("conv2d 1×1 groups 2", [2, 6, 3, 4], [4, 3, 1, 1], groups: 2),
        conv("conv2d of one pixel", [2, 5, 1, 1], [7, 5, 1, 1]),
        conv("conv2d one pixel 3×3", [1, 2, 1, 1], [3, 2, 3, 3], padding: 1),
        conv("conv2d 2×2", [2, 3, 5, 6], [4, 3, 2, 2]),
        conv("conv2d 4×4 stride 2", [1, 3, 8, 6], [4, 3, 4, 4], stride: 2, padding: 1),
        conv("conv2d 5×3", [1, 2, 8, 6], [3, 2, 5, 3], padding: 1),
        conv("conv2d 7×7 stride 2", [1, 3, 11, 13], [4, 3, 7, 7], stride: 2, padding: 3),
        conv("conv2d as large as the picture", [2, 3, 4, 5], [7, 3, 4, 5]),
        conv("conv2d windows of padding", [1, 2, 3, 2], [2, 2, 3, 3], padding: 3),
        conv("conv2d one channel", [2, 1, 7, 7], [1, 1, 3, 3], padding: 1),
        conv("conv2d stride beyond kernel", [1, 2, 9, 8], [3, 2, 2, 2], stride: 3),
        conv("conv2d 17 channels", [1, 17, 6, 7], [19, 17, 3, 3], padding: 1),
        OperationCase("conv2d 64 channels", [1, 64, 33, 31], [64, 64, 3, 3], [64]) {
            conv2d($0[0], weight: $0[1], bias: $0[2], padding: 1)
        },
        conv(
            "conv2d 64 channels stride 2", [2, 64, 33, 31], [72, 64, 3, 3], stride: 2, padding: 1),
        conv(
            "conv2d 64 channels dilation 2", [1, 64, 33, 31], [65, 64, 3, 3], padding: 2,
            dilation: 2),
        conv("conv2d 64 channels 1×1", [2, 64, 33, 31], [97, 64, 1, 1]),
        conv(
            "conv2d 64 channels depthwise", [2, 64, 33, 31], [64, 1, 3, 3], padding: 1, groups: 64),
        conv(
            "conv2d 64 channels depthwise stride 2", [2, 67, 33, 31], [67, 1, 5, 5], stride: 2,
            padding: 2, groups: 67),
        conv(
            "conv2d 64 channels groups 4", [1, 64, 33, 31], [64, 16, 3, 3], padding: 1, groups: 4),
        conv("conv2d first layer", [2, 1, 66, 61], [64, 1, 3, 3], padding: 1),
        conv("conv2d last layer", [1, 128, 33, 31], [2, 128, 1, 1]),
        conv("conv2d 3×3 tiles left over", [2, 16, 13, 18], [48, 16, 3, 3], padding: 1),
        conv("conv2d 3×3 no padding", [1, 32, 19, 14], [32, 32, 3, 3]),
        conv(
            "conv2d 3×3 tiles dilation 2", [1, 32, 17, 22], [16, 32, 3, 3], padding: 2,
            dilation: 2),
        conv(
            "conv2d 3×3 tiles dilation 3", [2, 16, 24, 25], [16, 16, 3, 3], padding: 1,
            dilation: 3),
        conv(
            "conv2d 3×3 tiles asymmetric padding", [1, 16, 12, 9], [16, 16, 3, 3],
            padding: Padding(top: 0, bottom: 2, left: 2, right: 1)),
        conv("conv2d 3×3 small tiles", [3, 32, 2, 2], [16, 32, 3, 3], padding: 1),
        conv("conv2d 3×3 many channels", [1, 192, 12, 11], [224, 192, 3, 3], padding: 1),
        conv(
            "conv2d many channels stride 2", [1, 288, 7, 9], [96, 288, 3, 3], stride: 2,
            padding: 1),
        conv("conv2d 4×4 tiles", [2, 32, 19, 14], [48, 32, 4, 4], stride: 2, padding: 1),
        conv(
            "conv2d 4×4 tiles asymmetric padding", [1, 64, 9, 12], [32, 64, 4, 4], stride: 2,
            padding: Padding(top: 0, bottom: 2, left: 2, right: 1)),
        conv("conv2d to 1 channel", [1, 16, 7, 40], [1, 16, 3, 3], padding: 2, dilation: 2),
        conv("conv2d to 2 channels", [2, 16, 9, 19], [2, 16, 3, 3], padding: 1),
        conv("conv2d to 3 channels", [1, 37, 8, 21], [3, 37, 3, 3], stride: 2, padding: 1),
        conv("conv2d to 4 channels", [1, 20, 5, 6], [4, 20, 2, 3]),
        conv("conv2d 17×17", [1, 2, 19, 18], [2, 2, 17, 17]),
    ]

    static let transposedConvolutions: [OperationCase] = [
        OperationCase("conv_transpose2d 4×4", [2, 3, 4, 5], [3, 4, 4, 4], [4]) {
            convTranspose2d($0[0], weight: $0[1], bias: $0[2], stride: 2, padding: 1)
        },
        OperationCase("conv_transpose2d 3×3", [2, 3, 4, 5], [3, 4, 3, 3], [4]) {
            convTranspose2d(
                $0[0], weight: $0[1], bias: $0[2], stride: 2, padding: 1, outputPadding: 1)
        },
        transposed("conv_transpose2d stride 1", [2, 3, 4, 5], [3, 2, 3, 3]),
        transposed(
            "conv_transpose2d output padding 1×0", [1, 2, 3, 4], [2, 3, 3, 3], stride: 2,
            padding: 1, outputPadding: Pair(1, 0)),
        transposed("conv_transpose2d 2×2", [1, 5, 3, 4], [5, 3, 2, 2], stride: 2),
        transposed("conv_transpose2d gaps", [1, 2, 3, 4], [2, 3, 2, 2], stride: 3),
        transposed("conv_transpose2d dilation 2", [1, 2, 4, 5], [2, 3, 3, 3], dilation: 2),
        transposed(
            "conv_transpose2d groups 2", [2, 4, 3, 5], [4, 3, 4, 4], stride: 2, padding: 1,
            groups: 2),
        transposed(
            "conv_transpose2d depthwise", [1, 17, 3, 4], [17, 1, 4, 4], stride: 2, padding: 1,
            groups: 17),
        transposed(
            "conv_transpose2d asymmetric padding", [2, 2, 4, 3], [2, 3, 4, 3], stride: 2,
            padding: Padding(top: 1, bottom: 0, left: 0, right: 2)),
        transposed("conv_transpose2d 1×1", [2, 5, 3, 4], [5, 3, 1, 1]),
        transposed(
            "conv_transpose2d one pixel", [1, 3, 1, 1], [3, 2, 4, 4], stride: 2, padding: 1),
        OperationCase("conv_transpose2d 64 channels", [2, 64, 17, 15], [64, 66, 4, 4], [66]) {
            convTranspose2d($0[0], weight: $0[1], bias: $0[2], stride: 2, padding: 1)
        },
        transposed("conv_transpose2d 3×3 tiles", [2, 16, 9, 14], [16, 32, 3, 3], padding: 1),
        OperationCase("conv_transpose2d 4×4 tiles", [2, 32, 9, 7], [32, 64, 4, 4], [64]) {
            relu(convTranspose2d($0[0], weight: $0[1], bias: $0[2], stride: 2, padding: 1))
        },
        transposed("conv_transpose2d 4×4 tiles whole", [1, 16, 6, 4], [16, 32, 4, 4], stride: 2),
        transposed(
            "conv_transpose2d 4×4 tiles output padding", [1, 48, 5, 8], [48, 96, 4, 4], stride: 2,
            padding: 2, outputPadding: Pair(0, 1)),
        transposed("conv_transpose2d 17×17", [1, 2, 2, 3], [2, 2, 17, 17]),
        transposed(
            "conv_transpose2d 3×3 tiles dilation 2", [1, 32, 9, 8], [32, 16, 3, 3], dilation: 2),
    ]

    private static func conv(
        _ name: String, _ x: CaseInput, _ weight: CaseInput, stride: Pair = 1,
        padding: Padding = 0, dilation: Pair = 1, groups: Int = 1
    ) -> OperationCase {
        OperationCase(name, x, weight) {
            conv2d(
                $0[0], weight: $0[1], stride: stride, padding: padding, dilation: dilation,
                groups: groups)
        }
    }

    private static func transposed(
        _ name: String, _ x: CaseInput, _ weight: CaseInput, stride: Pair = 1,
        padding: Padding = 0, outputPadding: Pair = 0, dilation: Pair = 1, groups: Int = 1
    ) -> OperationCase {
        OperationCase(name, x, weight) {
            convTranspose2d(
                $0[0], weight: $0[1], stride: stride, padding: padding,
                outputPadding: outputPadding, dilation: dilation, groups: groups)
        }
    }
}

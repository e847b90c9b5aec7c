import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintPackageSupport

extension ProgramCase {
    static let resizings: [ProgramCase] =
        [
            ("DEFAULT", "resize_bilinear"), ("UNALIGN_CORNERS", "resize_bilinear"),
            ("STRICT_ALIGN_CORNERS", "resize_bilinear"),
        ].map { mode, type in
            one(
                type,
                [
                    "target_size_height": integer(5), "target_size_width": integer(14),
                    "sampling_mode": string(mode),
                ], mode, to: [1, 4, 5, 14])
        } + [
            one(
                "resize_nearest_neighbor",
                [
                    "target_size_height": integer(12), "target_size_width": integer(24),
                ], to: [1, 4, 12, 24]),
            upsampled("upsample_nearest_neighbor", [:], "", 2, 3),
            upsampled("upsample_bilinear", [:], "aligned", 2, 3),
            upsampled("upsample_bilinear", ["align_corners": flag(false)], "half pixels", 3, 2),
            upsampled(
                "upsample_bilinear",
                ["align_corners": flag(false), "half_pixel_centers": flag(false)], "legacy", 2, 2),
            one(
                "upsample_bilinear",
                [
                    "scale_factor_height": float(0.84), "scale_factor_width": float(1.75),
                    "align_corners": flag(false),
                ], "by other factors", to: [1, 4, 5, 14]),
        ]

    private static func upsampled(
        _ type: String, _ parameters: [String: MILOperand], _ note: String, _ height: Int,
        _ width: Int
    ) -> ProgramCase {
        let factors = [
            "scale_factor_height": float(Float(height)), "scale_factor_width": float(Float(width)),
        ]
        return one(
            type, parameters.merging(factors) { given, _ in given }, note,
            to: [1, 4, 6 * height, 8 * width])
    }

    private static let window: [String: MILOperand] = [
        "kernel_sizes": .integers([3, 2]), "strides": .integers([2, 2]),
    ]

    static let pools: [ProgramCase] =
        ["max_pool", "avg_pool"].flatMap { type in
            [
                pool(type, ["pad_type": string("valid")], "valid", to: [1, 4, 2, 4]),
                pool(type, ["pad_type": string("same")], "same", to: [1, 4, 3, 4]),
                pool(
                    type, ["pad_type": string("custom"), "pad": .integers([0, 1, 1, 0])], "padded",
                    to: [1, 4, 3, 4]),
                pool(
                    type, ["pad_type": string("valid"), "ceil_mode": flag(true)], "rounded up",
                    to: [1, 4, 3, 4]),
            ]
        } + [
            pool(
                "avg_pool",
                [
                    "pad_type": string("custom"), "pad": .integers([0, 1, 1, 0]),
                    "exclude_padding_from_average": flag(true),
                ], "without padding", to: [1, 4, 3, 4])
        ]

    private static func pool(
        _ type: String, _ parameters: [String: MILOperand], _ note: String, to output: [Int]
    ) -> ProgramCase {
        one(type, window.merging(parameters) { $1 }, note, to: output)
    }

    static let convolutions: [ProgramCase] = [
        one(
            "conv",
            [
                "weight": floats(3, 4, 3, 2), "bias": floats(3), "pad_type": string("custom"),
                "pad": .integers([1, 0, 2, 1]), "strides": .integers([2, 1]),
                "dilations": .integers([1, 2]),
            ], to: [1, 3, 3, 9]),
        one(
            "conv", ["weight": floats(4, 2, 3, 3), "groups": integer(2)], "grouped",
            to: [1, 4, 4, 6]),
        one(
            "conv",
            [
                "weight": floats(2, 4, 3, 3), "pad_type": string("same"),
                "strides": .integers([2, 3]),
            ], "same", to: [1, 2, 3, 3]),
        one(
            "conv",
            [
                "weight": floats(2, 4, 2, 2), "pad_type": string("same_lower"),
            ], "same lower", to: [1, 2, 6, 8]),
        one(
            "conv_transpose",
            [
                "weight": floats(4, 3, 4, 4), "bias": floats(3), "pad_type": string("custom"),
                "pad": .integers([1, 1, 1, 1]), "strides": .integers([2, 2]),
                "output_shape": .integers([1, 3, 12, 16]),
            ], to: [1, 3, 12, 16]),
        one(
            "conv_transpose",
            [
                "weight": floats(4, 3, 3, 3), "pad_type": string("custom"),
                "pad": .integers([0, 1, 1, 0]), "strides": .integers([2, 3]),
                "output_shape": .integers([1, 3, 13, 24]),
            ], "with more after", to: [1, 3, 13, 24]),
        one(
            "conv_transpose",
            [
                "weight": floats(4, 2, 4, 2), "pad_type": string("same"),
                "strides": .integers([2, 2]),
                "groups": integer(2),
            ], "same", to: [1, 4, 12, 16]),
    ]

    static let matrices: [ProgramCase] = [
        one("linear", ["weight": floats(3, 8), "bias": floats(3)], from: [5, 8], to: [5, 3]),
        one("linear", ["weight": floats(3, 8), "bias": floats(3)], "of rank 4", to: [1, 4, 6, 3]),
        one("linear", ["weight": floats(3, 8)], "without bias", to: [1, 4, 6, 3]),
        one("matmul", ["y": floats(4, 8, 3)], to: [1, 4, 6, 3]),
        one(
            "matmul",
            [
                "y": floats(3, 6), "transpose_x": flag(true), "transpose_y": flag(true),
            ], "transposed", to: [1, 4, 8, 3]),
    ]

    static let normalizations: [ProgramCase] = [
        one(
            "batch_norm",
            [
                "mean": floats(4), "variance": .constant(.floats([0.5, 1, 2, 3])),
                "gamma": floats(4),
                "beta": floats(4, seed: 3), "epsilon": float(0.01),
            ]),
        one(
            "batch_norm",
            [
                "mean": floats(4), "variance": .constant(.floats([0.5, 1, 2, 3])),
            ], "without scale"),
        one("instance_norm", ["gamma": floats(4), "beta": floats(4, seed: 3)]),
        one("instance_norm", ["epsilon": float(0.1)], "without scale"),
        one("layer_norm", ["axes": .integers([-2, 3]), "gamma": floats(6, 8)]),
        one(
            "layer_norm",
            [
                "axes": .integers([1]), "gamma": floats(4), "beta": floats(4, seed: 3),
                "epsilon": float(0.1),
            ], "of channels"),
    ]
}

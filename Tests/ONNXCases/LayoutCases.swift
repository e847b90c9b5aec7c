import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensors

extension ProgramCase {
    static let reductions: [ProgramCase] = [
        "reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_sum_square",
        "reduce_l1_norm", "reduce_l2_norm", "reduce_log_sum_exp",
    ].flatMap { type in
        [
            one(
                type, ["axes": .integers([2, -1]), "keep_dims": flag(true)], "kept",
                to: [1, 4, 1, 1]),
            one(type, ["axes": .integers([1])], "dropped", to: [1, 6, 8]),
        ]
    }

    static let layouts: [ProgramCase] = [
        one("reshape", ["shape": .integers([0, -1, 2, 0])], to: [1, 12, 2, 8]),
        ProgramCase("reshape to computed sizes", numbers(Shape(shape))) { builder in
            let whole = MILTensorType(.int32, [2])
            let all = builder.operation(
                "shape", ["x": .name("x")], name: "sizes", type: MILTensorType(.int32, [4]))
            let sides = builder.operation(
                "slice_by_size",
                ["x": .name(all), "begin": .integers([2]), "size": .integers([-1])],
                name: "sides", type: whole)
            let halves = builder.operation(
                "floor_div", ["x": .name(sides), "y": .integers([4, -3])], name: "halves",
                type: whole)
            // 6 ÷ 4 and 8 ÷ −3, rounded down: 1 and −3.
            let positive = builder.operation(
                "mul", ["x": .name(halves), "y": .integers([8, -8])], name: "positive", type: whole)
            return builder.operation(
                "reshape", ["x": .name("x"), "shape": .name(positive)], name: "r",
                type: MILTensorType(.float32, [8, 24]))
        },
        one("transpose", ["perm": .integers([0, -1, 1, 2])], to: [1, 8, 4, 6]),
        one("expand_dims", ["axes": .integers([1, -1])], to: [1, 1, 4, 6, 8, 1]),
        one("squeeze", ["axes": .integers([-4])], to: [4, 6, 8]),
        one("squeeze", [:], "all", to: [4, 6, 8]),
        one("tile", ["reps": .integers([2, 1, 3, 1])], to: [2, 4, 18, 8]),
        one(
            "pad",
            [
                "pad": .integers([1, 2, 0, 3]), "mode": string("constant"),
                "constant_val": float(0.5),
            ], to: [1, 4, 9, 11]),
        one(
            "pad", ["pad": .integers([2, 1, 0, 3]), "mode": string("reflect")], "reflect",
            to: [1, 4, 9, 11]),
        one(
            "pad", ["pad": .integers([2, 1, 0, 3]), "mode": string("replicate")], "replicate",
            to: [1, 4, 9, 11]),
        one("pixel_shuffle", ["upscale_factor": integer(2)], to: [1, 1, 12, 16]),
        one(
            "pixel_unshuffle", ["downscale_factor": .constant(.uint32([2], shape: []))],
            to: [1, 16, 3, 4]),
        one(
            "concat",
            [
                "values": .names(["x", "x"]), "axis": integer(-3),
                "interleave": flag(false),
            ], to: [1, 8, 6, 8]),
        one(
            "concat",
            [
                "values": .names(["x", "x", "x"]), "axis": integer(1),
                "interleave": flag(true),
            ], "interleaved", to: [1, 12, 6, 8]),
        one("stack", ["values": .names(["x", "x"]), "axis": integer(2)], to: [1, 4, 2, 6, 8]),
    ]

    static let slices: [ProgramCase] = [
        one(
            "slice_by_index",
            [
                "begin": .integers([0, 1, -5, 7]), "end": .integers([1, -1, 6, 0]),
                "stride": .integers([1, 1, 2, 3]), "begin_mask": flags(false, false, false, true),
                "end_mask": flags(false, false, false, true),
            ], to: [1, 2, 3, 3]),
        one(
            "slice_by_index",
            [
                "begin": .integers([0, -1, 2, 0]), "end": .integers([1, 0, 3, 8]),
                "squeeze_mask": flags(false, true, true, false),
            ], "squeezed", to: [1, 8]),
        one(
            "slice_by_index",
            [
                "begin": .integers([0, 0, 0, 0]), "end": .integers([1, 4, 6, 8]),
            ], "of everything"),
        one(
            "slice_by_size",
            ["begin": .integers([0, 1, 2, 0]), "size": .integers([1, 2, -1, 8])],
            to: [1, 2, 4, 8]),
        one(
            "crop", ["crop_height": .integers([1, 2]), "crop_width": .integers([0, 3])],
            to: [1, 4, 3, 5]),
        one(
            "crop", ["crop_height": .integers([2, 0]), "crop_width": .integers([1, 1])],
            "to the end", to: [1, 4, 4, 6]),
        one("reverse", ["axes": .integers([-1, 1])]),
        one(
            "gather", ["indices": .integers([5, 0, 1, -1]), "axis": integer(2)],
            to: [1, 4, 4, 8]),
        one("gather", ["indices": integer(2), "axis": integer(-3)], "of one", to: [1, 6, 8]),
        one(
            "gather_along_axis", ["indices": places([1, 2, 6, 8]), "axis": integer(1)],
            to: [1, 2, 6, 8]),
        one(
            "scatter_along_axis",
            [
                "data": .name("x"), "indices": places([1, 2, 6, 8]), "axis": integer(1),
                "updates": .constant(.floats(numbers([1, 2, 6, 8]).scalars, shape: [1, 2, 6, 8])),
                "mode": string("add"),
            ]),
        ProgramCase("fill", numbers(Shape(shape))) { builder in
            let half = builder.operation(
                "fill", ["shape": .integers(shape), "value": float(0.5)], name: "half",
                type: MILTensorType(.float32, shape))
            return builder.operation(
                "add", ["x": .name("x"), "y": .name(half)], name: "r",
                type: MILTensorType(.float32, shape))
        },
        order("reduce_argmax", ["keep_dims": flag(true)], [1, 1, 6, 8]),
        order("reduce_argmin", ["keep_dims": flag(false)], [1, 6, 8]),
        order("argsort", ["ascending": flag(true)], shape),
        parts(["split_sizes": .integers([1, 3])], [1, 3]),
        parts(["num_splits": integer(2)], [2, 2]),
    ]

    /// Positions along an axis of 4 elements.
    private static func places(_ shape: [Int]) -> MILOperand {
        let values = (0..<shape.reduce(1, *)).map { Int32($0 * 7 % 4) }
        return .constant(MILValue(type: MILTensorType(.int32, shape), content: .integers(values)))
    }

    /// Positions of elements along axis 1, as floats.
    private static func order(
        _ type: String, _ parameters: [String: MILOperand], _ output: [Int]
    ) -> ProgramCase {
        ProgramCase(type, numbers(Shape(shape))) { builder in
            let found = builder.operation(
                type,
                parameters.merging(["x": .name("x"), "axis": integer(1)]) { given, _ in given },
                name: "places", type: MILTensorType(.int32, output))
            return builder.operation(
                "cast", ["x": .name(found), "dtype": string("fp32")], name: "r",
                type: MILTensorType(.float32, output))
        }
    }

    /// The parts of x along axis 1, in reverse order.
    private static func parts(_ parameters: [String: MILOperand], _ sizes: [Int]) -> ProgramCase {
        ProgramCase("split \(sizes)", numbers(Shape(shape))) { builder in
            let parts = builder.operation(
                "split",
                parameters.merging(["x": .name("x"), "axis": integer(1)]) { given, _ in given },
                outputs: sizes.enumerated().map { index, size in
                    MILNamedType("part_\(index)", MILTensorType(.float32, [1, size, 6, 8]))
                })
            return builder.operation(
                "concat",
                [
                    "values": .names(parts.reversed()), "axis": integer(1),
                    "interleave": flag(false),
                ], name: "r", type: MILTensorType(.float32, shape))
        }
    }
}

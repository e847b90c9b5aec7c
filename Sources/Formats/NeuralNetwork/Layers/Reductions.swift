import RetintCoreMLProto
import RetintMIL
import RetintMLPackage

/// Reductions along axes, and the positions of extremes.
enum Reductions: LayerFamily {
    static let readers: [String: LayerReader] = [
        "reduce": { try $0.reduced($0.proto.reduce) },
        "reduceL1": { try $0.reduced("reduce_l1_norm", $0.proto.reduceL1) },
        "reduceL2": { try $0.reduced("reduce_l2_norm", $0.proto.reduceL2) },
        "reduceMax": { try $0.reduced("reduce_max", $0.proto.reduceMax) },
        "reduceMin": { try $0.reduced("reduce_min", $0.proto.reduceMin) },
        "reduceSum": { try $0.reduced("reduce_sum", $0.proto.reduceSum) },
        "reduceProd": { try $0.reduced("reduce_prod", $0.proto.reduceProd) },
        "reduceMean": { try $0.reduced("reduce_mean", $0.proto.reduceMean) },
        "reduceLogSum": { try $0.reduced("reduce_log_sum", $0.proto.reduceLogSum) },
        "reduceSumSquare": { try $0.reduced("reduce_sum_square", $0.proto.reduceSumSquare) },
        "reduceLogSumExp": { try $0.reduced("reduce_log_sum_exp", $0.proto.reduceLogSumExp) },
        "argMax": { try $0.position("reduce_argmax", $0.proto.argMax) },
        "argMin": { try $0.position("reduce_argmin", $0.proto.argMin) },
        "argSort": { layer in
            let proto = layer.proto.argSort
            return try layer.mapExact { x in
                let axis = try layer.axis(proto.axis, rank: x.shape.count)
                return try layer.floats(
                    try layer.add(
                        "argsort",
                        [
                            "x": .name(x), "axis": .integer(axis),
                            "ascending": .flag(!proto.descending),
                        ], as: .int32))
            }
        },
        "topK": { layer in
            let proto = layer.proto.topK
            let x = try layer.exact(try layer.input())
            let axis = try layer.axis(proto.axis, rank: x.shape.count)
            let results = try layer.addSeveral(
                "topk",
                [
                    "x": .name(x), "k": .integer(try layer.size(proto.count, "K")),
                    "axis": .integer(axis), "ascending": .flag(proto.useBottomK),
                ], [.float32, .int32])
            return [LayerValue(results[0]), LayerValue(try layer.floats(results[1]))]
        },
        "cumSum": { layer in
            let proto = layer.proto.cumSum
            return try layer.mapExact { x in
                try layer.add(
                    "cumsum",
                    [
                        "x": .name(x),
                        "axis": .integer(try layer.axis(proto.axis, rank: x.shape.count)),
                        "exclusive": .flag(proto.excludeFinalSum), "reverse": .flag(proto.reverse),
                    ])
            }
        },
    ]
}

extension ReadLayer {
    /// A reduction of the first versions, which keeps the axes.
    fileprivate func reduced(_ proto: ProtoReduceLayerParams) throws -> [LayerValue] {
        let sets: [ProtoReduceLayerParams.ReduceAxis: [Int]] = [
            .chw: [-3, -2, -1], .hw: [-2, -1], .c: [-3], .h: [-2], .w: [-1],
        ]
        let types: [ProtoReduceLayerParams.ReduceOperation: String] = [
            .sum: "reduce_sum", .avg: "reduce_mean", .prod: "reduce_prod", .logsum: "reduce_sum",
            .sumsquare: "reduce_sum_square", .l1: "reduce_l1_norm", .l2: "reduce_l2_norm",
            .max: "reduce_max", .min: "reduce_min", .argmax: "reduce_argmax",
        ]
        guard let axes = sets[proto.axis], let type = types[proto.mode] else {
            throw error("its mode or its axis is not known")
        }
        return try mapElements { x in
            guard axes.allSatisfy({ -$0 <= x.shape.count }) else {
                throw error("an input of \(x.shape) lacks an axis")
            }
            if proto.mode == .argmax {
                guard axes.count == 1 else { throw error("argmax takes one axis") }
                return try floats(
                    try add(
                        type,
                        ["x": .name(x), "axis": .integer(axes[0]), "keep_dims": .flag(true)],
                        as: .int32))
            }
            var terms = x
            if proto.mode == .logsum {
                let epsilon = number(proto.epsilon, zeroMeans: 1e-6)
                terms = try add("log", ["x": .name(x), "epsilon": .number(epsilon)])
            }
            return try add(
                type, ["x": .name(terms), "axes": .integers(axes), "keep_dims": .flag(true)])
        }
    }

    fileprivate func reduced(
        _ type: String, _ proto: ProtoReduceAxesParams
    ) throws -> [LayerValue] {
        try mapExact { x in
            let rank = x.shape.count
            let axes =
                proto.reduceAll || proto.axes.isEmpty
                ? Array(0..<rank) : try axes(proto.axes, rank: rank)
            let keeps = proto.keepDims || Set(axes).count == rank
            let result = try add(
                type, ["x": .name(x), "axes": .integers(axes), "keep_dims": .flag(keeps)])
            // There are no values without axes.
            return keeps && !proto.keepDims && rank > 1 ? try reshaped(result, [1]) : result
        }
    }

    fileprivate func position(
        _ type: String, _ proto: ProtoArgLayerParams
    ) throws -> [LayerValue] {
        try mapExact { x in
            let axis = try axis(proto.axis, rank: x.shape.count)
            let keeps = !proto.removeDim || x.shape.count == 1
            return try floats(
                try add(
                    type, ["x": .name(x), "axis": .integer(axis), "keep_dims": .flag(keeps)],
                    as: .int32))
        }
    }
}

/// Sums, products, extremes and means of values; layers of the first versions take any number.
enum Arithmetic: LayerFamily {
    static let readers: [String: LayerReader] = [
        "add": { layer in
            guard layer.inputs.count == 1 else { return [try layer.folded("add")] }
            let alpha = layer.proto.add.alpha
            return try layer.mapElements { try layer.combined("add", $0, alpha) }
        },
        "multiply": { layer in
            guard layer.inputs.count == 1 else { return [try layer.folded("mul")] }
            let alpha = layer.proto.multiply.alpha
            return try layer.mapElements { try layer.combined("mul", $0, alpha) }
        },
        "average": { layer in
            let sum = try layer.folded("add")
            let share = 1 / Float(layer.inputs.count)
            return [try layer.mapElements(of: sum) { try layer.combined("mul", $0, share) }]
        },
        "max": { [try $0.folded("maximum")] },
        "min": { [try $0.folded("minimum")] },
        "dot": { layer in
            let pair = try layer.inputs(2)
            let product = try layer.combined("mul", pair[0], pair[1])
            let dot = try layer.sum("reduce_sum", product)
            guard layer.proto.dot.cosineSimilarity else { return [dot] }
            let lengths = try pair.map { try layer.sum("reduce_l2_norm", $0) }
            let both = try layer.combined("mul", lengths[0], lengths[1])
            return [try layer.combined("real_div", dot, both)]
        },
        "addBroadcastable": { [try $0.folded("add")] },
        "subtractBroadcastable": { [try $0.pair("sub")] },
        "multiplyBroadcastable": { [try $0.folded("mul")] },
        "divideBroadcastable": { [try $0.pair("real_div")] },
        "floorDivBroadcastable": { [try $0.pair("floor_div")] },
        "modBroadcastable": { [try $0.pair("mod")] },
        "powBroadcastable": { [try $0.pair("pow")] },
        "maxBroadcastable": { [try $0.folded("maximum")] },
        "minBroadcastable": { [try $0.folded("minimum")] },
    ]
}

extension ReadLayer {
    fileprivate func folded(_ type: String) throws -> LayerValue {
        guard let first = inputs.first, inputs.count > 1 else {
            throw error("it needs at least two inputs, has \(inputs.count)")
        }
        return try inputs.dropFirst().reduce(first) { try combined(type, $0, $1) }
    }

    fileprivate func pair(_ type: String) throws -> LayerValue {
        let pair = try inputs(2)
        return try combined(type, pair[0], pair[1])
    }

    fileprivate func sum(_ type: String, _ value: LayerValue) throws -> LayerValue {
        try result(
            images: try add(
                type,
                [
                    "x": .name(try images(value)), "axes": .integers([1]), "keep_dims": .flag(true),
                ]), like: value)
    }
}

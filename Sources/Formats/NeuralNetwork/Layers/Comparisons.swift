import RetintMLPackage

/// Comparisons and logic, whose results are 1 and 0.
enum Comparisons: LayerFamily {
    static let readers: [String: LayerReader] = [
        "equal": { try $0.compared("equal", with: $0.proto.equal.alpha) },
        "notEqual": { try $0.compared("not_equal", with: $0.proto.notEqual.alpha) },
        "lessThan": { try $0.compared("less", with: $0.proto.lessThan.alpha) },
        "lessEqual": { try $0.compared("less_equal", with: $0.proto.lessEqual.alpha) },
        "greaterThan": { try $0.compared("greater", with: $0.proto.greaterThan.alpha) },
        "greaterEqual": { try $0.compared("greater_equal", with: $0.proto.greaterEqual.alpha) },
        "logicalAnd": { try $0.logical("logical_and") },
        "logicalOr": { try $0.logical("logical_or") },
        "logicalXor": { try $0.logical("logical_xor") },
        "logicalNot": { layer in
            try layer.mapElements {
                let truth = try layer.cast($0, to: .bool)
                return try layer.floats(
                    try layer.add("logical_not", ["x": .name(truth)], as: .bool))
            }
        },
        "whereBroadcastable": { layer in
            let values = try layer.inputs(3)
            let truth = try layer.cast(try layer.exact(values[0]), to: .bool)
            return [
                LayerValue(
                    try layer.add(
                        "select",
                        [
                            "cond": .name(truth), "a": .name(try layer.exact(values[1])),
                            "b": .name(try layer.exact(values[2])),
                        ]))
            ]
        },
    ]
}

extension ReadLayer {
    /// Two values compared, or one with a number.
    fileprivate func compared(_ type: String, with number: Float) throws -> [LayerValue] {
        guard inputs.count == 1 else {
            let pair = try inputs(2)
            return [
                try combined(pair[0], pair[1]) {
                    try floats(try add(type, ["x": .name($0), "y": .name($1)], as: .bool))
                }
            ]
        }
        return try mapElements {
            try floats(try add(type, ["x": .name($0), "y": .number(number)], as: .bool))
        }
    }

    fileprivate func logical(_ type: String) throws -> [LayerValue] {
        let pair = try inputs(2)
        return [
            try combined(pair[0], pair[1]) { x, y in
                let (x, y) = (try cast(x, to: .bool), try cast(y, to: .bool))
                return try floats(try add(type, ["x": .name(x), "y": .name(y)], as: .bool))
            }
        ]
    }
}

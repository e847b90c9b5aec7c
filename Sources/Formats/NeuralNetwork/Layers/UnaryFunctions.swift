import RetintCoreMLProto
import RetintMLPackage

/// Functions of single elements.
enum UnaryFunctions: LayerFamily {
    static let readers: [String: LayerReader] = {
        var readers: [String: LayerReader] = [
            "acosh": { try $0.inverseHyperbolic(-1) }, "asinh": { try $0.inverseHyperbolic(1) },
            "unary": { try $0.unary($0.proto.unary) },
        ]
        for type in simple {
            readers[type] = { layer in
                try layer.mapElements { try layer.add(type, ["x": .name($0)]) }
            }
        }
        return readers
    }()

    /// Layers whose types are those of MIL operations.
    private static let simple = [
        "acos", "asin", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp2", "floor", "round",
        "sign", "sin", "sinh", "tan", "tanh",
    ]
}

extension ReadLayer {
    /// log(x + √(x² + c)), which MIL has no operation for.
    fileprivate func inverseHyperbolic(_ constant: Float) throws -> [LayerValue] {
        try mapElements { x in
            let square = try combined("add", try combined("mul", x, x), constant)
            let sum = try combined("add", x, try add("sqrt", ["x": .name(square)]))
            return try add("log", ["x": .name(sum)])
        }
    }

    /// A function of scale · x + shift.
    fileprivate func unary(_ proto: ProtoUnaryFunctionLayerParams) throws -> [LayerValue] {
        try mapElements { x in
            let scale = number(proto.scale, zeroMeans: 1)
            let scaled = scale == 1 ? x : try combined("mul", x, scale)
            let moved = proto.shift == 0 ? scaled : try combined("add", scaled, proto.shift)
            let epsilon = MILOperand.number(number(proto.epsilon, zeroMeans: 1e-6))
            switch proto.type {
            case .sqrt: return try add("sqrt", ["x": .name(moved)])
            case .rsqrt: return try add("rsqrt", ["x": .name(moved), "epsilon": epsilon])
            case .inverse: return try add("inverse", ["x": .name(moved), "epsilon": epsilon])
            case .power: return try combined("pow", moved, proto.alpha)
            case .exp: return try add("exp", ["x": .name(moved)])
            case .log: return try add("log", ["x": .name(moved)])
            case .abs: return try add("abs", ["x": .name(moved)])
            case .threshold:
                return try add("threshold", ["x": .name(moved), "alpha": .number(proto.alpha)])
            default: throw error("its function is not known")
            }
        }
    }
}

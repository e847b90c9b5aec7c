import RetintMLPackage

/// Activations. Those that the dialect knows by name also state how they are computed.
enum Activations: OperationFamily {
    fileprivate typealias Body = @Sendable (GraphWriter, WrittenValue) throws -> WrittenValue

    fileprivate static let named: [String: Body] = [
        "relu": { graph, x in try graph.combined("maximum", x, try graph.number(0, like: x)) },
        "sigmoid": { graph, x in try graph.logistic(x) },
        "silu": { graph, x in try graph.combined("mul", x, try graph.logistic(x)) },
    ]

    static let writers: [String: OperationWriter] = {
        var writers: [String: OperationWriter] = [
            "relu6": { graph, operation in
                [try graph.clamped(try graph.relu(try operation.value("x")), below: 6)]
            },
            "leaky_relu": { graph, operation in
                let slope = try operation.float("alpha", default: 0.01)
                return [try graph.leakyRelu(try operation.value("x"), slope)]
            },
            "clip": { graph, operation in
                let (low, high) = try (
                    operation.float("alpha"), operation.float("beta")
                )
                return [try graph.clamped(try operation.value("x"), above: low, below: high)]
            },
            "sigmoid_hard": { graph, operation in
                let x = try operation.value("x")
                let slope = try operation.float("alpha", default: 0.2)
                let shift = try operation.float("beta", default: 0.5)
                let scaled = try graph.combined("mul", x, try graph.number(slope, like: x))
                let line = try graph.combined("add", scaled, try graph.number(shift, like: x))
                return [try graph.clamped(line, above: 0, below: 1)]
            },
            "gelu": { graph, operation in
                let x = try operation.value("x")
                return [try graph.gelu(x, try operation.string("mode", default: "EXACT"))]
            },
            "softplus": { graph, operation in [try graph.softplus(try operation.value("x"))] },
        ]
        for name in named.keys {
            writers[name] = { graph, operation in
                [try graph.activation(name, try operation.value("x"))]
            }
        }
        return writers
    }()

    static let readers: [String: OperationReader] = {
        var readers: [String: OperationReader] = [
            "primitive.gelu_v1": { graph, operation in
                guard let mode = GeluApproximation(rawValue: try operation.mode()) else {
                    throw operation.error("its approximation is unknown")
                }
                let text = mode == .none ? "EXACT" : "TANH_APPROXIMATION"
                return [
                    try graph.add(
                        "gelu",
                        ["x": operation.operand(0), "mode": .constant(.string(text))], operation)
                ]
            }
        ]
        for name in named.keys {
            readers["\(name)_v1"] = { graph, operation in
                [try graph.add(name, ["x": operation.operand(0)], operation)]
            }
        }
        return readers
    }()
}

extension GraphWriter {
    /// An activation that the dialect knows by name.
    fileprivate func activation(_ name: String, _ x: WrittenValue) throws -> WrittenValue {
        try composite("\(name)_v1", [x], x.type) { inner, values in
            try Activations.named[name]?(inner, values[0]) ?? values[0]
        }
    }

    fileprivate func relu(_ x: WrittenValue) throws -> WrittenValue { try activation("relu", x) }

    /// 1 / (1 + exp(−x)).
    fileprivate func logistic(_ x: WrittenValue) throws -> WrittenValue {
        let one = try number(1, like: x)
        let power = try unary("exp", try combined("sub", try number(0, like: x), x))
        return try combined("divide", one, try combined("add", one, power))
    }

    fileprivate func clamped(
        _ x: WrittenValue, above low: Float = -.infinity, below high: Float
    ) throws -> WrittenValue {
        let raised =
            low == -.infinity ? x : try combined("maximum", x, try number(low, like: x))
        guard high < .infinity else { return raised }
        return try combined("minimum", raised, try number(high, like: x))
    }

    /// max(x, 0) + slope · min(x, 0).
    fileprivate func leakyRelu(_ x: WrittenValue, _ slope: Float) throws -> WrittenValue {
        let negative = try combined("minimum", x, try number(0, like: x))
        let scaled = try combined("mul", negative, try number(slope, like: x))
        return try combined("add", try relu(x), scaled)
    }

    /// max(x, 0) + log(1 + exp(−|x|)), which does not overflow.
    fileprivate func softplus(_ x: WrittenValue) throws -> WrittenValue {
        let negative = try combined("sub", try number(0, like: x), try unary("abs", x))
        let sum = try combined("add", try unary("exp", negative), try number(1, like: x))
        return try combined("add", try relu(x), try unary("log", sum))
    }

    fileprivate func gelu(_ x: WrittenValue, _ mode: String) throws -> WrittenValue {
        let modes = ["EXACT": GeluApproximation.none, "TANH_APPROXIMATION": .tanh]
        guard let approximation = modes[mode] else {
            throw NotWritable("the mode \(mode) of gelu has no counterpart")
        }
        return try add(
            "primitive.gelu_v1", [x], x.type,
            mode: (Dialect.AttributeCode.approximation, approximation.rawValue))
    }
}

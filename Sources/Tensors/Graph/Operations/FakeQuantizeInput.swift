package import RetintTensors

/// x rounded as for storage in integers of 8 bits: scale · clip(round(x/scale), −128, 127), with
/// one scale for all (`torch.fake_quantize_per_tensor_affine` without a zero point).
///
/// The gradients are those of a learned step size (LSQ, Esser et al. 2020;
/// `torch._fake_quantize_learnable_per_tensor_affine`): that of x passes where its code is in
/// range, and that of the scale is divided by √(127 · elements of x).
package struct FakeQuantizeInput: BinaryElementwise {
    package static let name = "fake_quantize_input"
    /// The smallest and the largest code.
    package static let codes: (low: Float, high: Float) = (-128, 127)

    package init() {}

    package func formula(_ x: Formula, _ scale: Formula) -> Formula {
        let (low, high) = (Formula(Self.codes.low), Formula(Self.codes.high))
        return Formula.unary(.round, x / scale).clipped(low, high) * scale
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let (x, scale, dy) = (backward.inputs[0], backward.inputs[1], backward.gradient)
        let steps = x / scale
        let code = round(steps)
        let (low, high) = Self.codes
        let isInside = greaterOrEqual(code, low) * greaterOrEqual(high, code)
        let share = 1 / (high * Float(x.shape.count)).squareRoot()
        return backward.binary(
            { dy * isInside },
            { dy * (clip(code, min: low, max: high) - steps * isInside) * share })
    }
}

/// How layers round their inputs to integers of 8 bits, as in quantized packages.
public enum InputRounding: Hashable, Sendable {
    /// To ranges that are trained: variables named `input_range.WEIGHT`.
    case learned
    /// To given ranges, by the names of weights; the inputs of other layers are not rounded.
    case fixed([String: Float])
    /// Not at all, but the graph records the inputs; see `Graph.layerInputs`.
    case observed

    private static let prefix = "input_range."
    /// The smallest scale is the smallest normal number of half precision.
    package static let leastScale: Float = 0x1p-14

    /// The name of the range of a layer's input: the magnitude of its largest code, 127.
    package static func rangeName(of weight: String) -> String { prefix + weight }

    /// The weight that a range belongs to; nil for other names.
    package static func weight(ofRange name: String) -> String? {
        name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
    }
}

extension InputRounding {
    /// To the ranges among the variables of a network.
    ///
    /// - Returns: nil if there are none.
    /// - Throws: the error of the place that they are read from.
    package init?(ofVariables variables: [String: any TensorSource]) throws {
        var ranges: [String: Float] = [:]
        for (name, source) in variables {
            guard let weight = Self.weight(ofRange: name) else { continue }
            var range: Float = 0
            try source.read(0..<1, into: &range)
            ranges[weight] = range
        }
        guard !ranges.isEmpty else { return nil }
        self = .fixed(ranges)
    }
}

extension Tensor {
    /// This input of a layer, rounded if its graph rounds inputs (`Graph.inputRounding`).
    ///
    /// The scale is a number of half precision, so that packages in float16 round alike.
    ///
    /// - Parameter weight: the name of the layer's weight.
    package func roundedAsInput(of weight: String) -> Tensor {
        let limit = FakeQuantizeInput.codes.high
        switch graph.inputRounding {
        case nil:
            return self
        case .observed:
            graph.recordLayerInput(self, of: weight)
            return self
        case .learned:
            let range = graph.variable(
                InputRounding.rangeName(of: weight), .scalar, role: .parameter)
            let least = graph.constant(InputRounding.leastScale)
            let scale = maximum(abs(range) / limit, least).applying(RoundToHalf())
            return graph.apply(FakeQuantizeInput(), [self, scale])
        case .fixed(let ranges):
            guard let range = ranges[weight] else { return self }
            let scale = Swift.max(Swift.abs(range) / limit, InputRounding.leastScale)
            let half = Float(Float16(scale))
            return graph.apply(FakeQuantizeInput(), [self, graph.constant(half)])
        }
    }
}

package import RetintTensors

/// A weight rounded as for storage in a few bits: scale·round(w/scale), where the scale of
/// each slice along an axis maps its largest |w| to the largest code
/// (`torch.fake_quantize_per_channel_affine` with a symmetric range, the scale taken from the
/// weight itself).
///
/// The gradient is the straight-through estimate (Bengio et al., 2013): that of the identity.
package struct FakeQuantize: Operation {
    package static let name = "fake_quantize"
    /// The axis with a scale for each index; nil for one scale for all.
    package let axis: Int?
    /// Bits of a code, including its sign: from −(2^(bits−1) − 1) to 2^(bits−1) − 1.
    package let bits: Int

    package var largestCode: Int { 1 << (bits - 1) - 1 }

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        try require((2...16).contains(bits), "bits must be 2 to 16")
        if let axis {
            try require(
                inputs[0].dimensions.indices.contains(axis),
                "there is no axis \(axis) in \(inputs[0])")
        }
        return inputs[0]
    }

    package func gradients(_ backward: Backward) -> [Tensor?] { [backward.gradient] }
}

/// How the weights of a network will be stored: in a few bits, with one scale for each output
/// channel. Small weights are not rounded.
public struct WeightRounding: Hashable, Sendable {
    /// Bits of a code, including its sign.
    public var bits: Int
    /// Weights with at most this many elements are not rounded.
    public var threshold: Int

    /// Rounding to codes of `bits`.
    public init(bits: Int, threshold: Int = 2048) {
        (self.bits, self.threshold) = (bits, threshold)
    }
}

extension Tensor {
    /// This weight rounded to what integers of a few bits, times a scale, can represent.
    ///
    /// - Parameters:
    ///   - bits: the bits of a code, including its sign.
    ///   - axis: the axis with a scale for each index; nil for one scale for all.
    public func fakeQuantized(bits: Int, axis: Int?) -> Tensor {
        graph.apply(FakeQuantize(axis: axis, bits: bits), [self])
    }
}

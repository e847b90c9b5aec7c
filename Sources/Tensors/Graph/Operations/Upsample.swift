package import RetintTensors

/// Bilinear upsampling by integer factors (`torch.nn.functional.interpolate`, mode bilinear).
///
/// Samples at (i + ½)/factor − ½, or at i·(in − 1)/(out − 1) with `alignCorners`, clamped to the
/// image.
package struct UpsampleBilinear: Operation {
    package static let name = "upsample_bilinear2d"
    package let factor: Pair
    package let alignCorners: Bool

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try upsampledShape(inputs, factor)
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient.applying(UpsampleBilinearGradient(upsample: self))]
    }
}

/// The gradient of ``UpsampleBilinear``: its transpose as a linear map.
package struct UpsampleBilinearGradient: Operation {
    package static let name = "upsample_bilinear2d_input"
    package let upsample: UpsampleBilinear

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        let (shape, factor) = (inputs[0], upsample.factor)
        try requireRank(shape, 4)
        try require(
            shape[2] % factor.height == 0 && shape[3] % factor.width == 0,
            "\(shape) is not a multiple of the factor")
        return [shape[0], shape[1], shape[2] / factor.height, shape[3] / factor.width]
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient.applying(upsample)]
    }
}

/// Each pixel repeated by integer factors (`torch.nn.functional.interpolate`, mode nearest).
package struct UpsampleNearest: Operation {
    package static let name = "upsample_nearest2d"
    package let factor: Pair

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try upsampledShape(inputs, factor)
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let count = Float(factor.height * factor.width)
        return [avgPool2d(backward.gradient, kernel: factor) * count]
    }
}

private func upsampledShape(_ inputs: [Shape], _ factor: Pair) throws(ShapeError) -> Shape {
    try requireInputs(inputs, 1...1)
    let x = inputs[0]
    try requireRank(x, 4)
    try require(
        (1...Shape.maximumExtent).contains(factor.height)
            && (1...Shape.maximumExtent).contains(factor.width),
        "the factor must be from 1 to \(Shape.maximumExtent)")
    return [x[0], x[1], x[2] * factor.height, x[3] * factor.width]
}

/// Bilinear upsampling by integer factors (`torch.nn.functional.interpolate`, mode bilinear):
/// [N, C, H, W] → [N, C, H·f, W·f].
public func upsampleBilinear(_ x: Tensor, factor: Pair, alignCorners: Bool = false) -> Tensor {
    x.applying(UpsampleBilinear(factor: factor, alignCorners: alignCorners))
}

/// Each pixel repeated by integer factors (`torch.nn.functional.interpolate`, mode nearest).
public func upsampleNearest(_ x: Tensor, factor: Pair) -> Tensor {
    x.applying(UpsampleNearest(factor: factor))
}

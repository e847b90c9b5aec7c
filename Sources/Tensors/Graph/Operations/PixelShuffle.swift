package import RetintTensors

/// Channels to pixels (`torch.pixel_shuffle`): [N, C·f², H, W] → [N, C, H·f, W·f].
package struct PixelShuffle: Operation {
    package static let name = "pixel_shuffle"
    package let factor: Int

    package init(factor: Int) {
        self.factor = factor
    }

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        let x = inputs[0]
        try requireRank(x, 4)
        try require(
            (1...Window.maximum).contains(factor) && x[1] % (factor * factor) == 0,
            "\(x[1]) channels are not a multiple of \(factor)²")
        return [x[0], x[1] / (factor * factor), x[2] * factor, x[3] * factor]
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        [pixelUnshuffle(backward.gradient, factor: factor)]
    }
}

/// Pixels to channels (`torch.pixel_unshuffle`): [N, C, H·f, W·f] → [N, C·f², H, W].
package struct PixelUnshuffle: Operation {
    package static let name = "pixel_unshuffle"
    package let factor: Int

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        let x = inputs[0]
        try requireRank(x, 4)
        try require(
            (1...Window.maximum).contains(factor) && x[2] % factor == 0 && x[3] % factor == 0,
            "\(x[2])×\(x[3]) pixels are not a multiple of \(factor)")
        return [x[0], x[1] * factor * factor, x[2] / factor, x[3] / factor]
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        [pixelShuffle(backward.gradient, factor: factor)]
    }
}

/// Channels to pixels (`torch.pixel_shuffle`): [N, C·f², H, W] → [N, C, H·f, W·f].
public func pixelShuffle(_ x: Tensor, factor: Int) -> Tensor {
    x.applying(PixelShuffle(factor: factor))
}

/// Pixels to channels (`torch.pixel_unshuffle`): [N, C, H·f, W·f] → [N, C·f², H, W].
public func pixelUnshuffle(_ x: Tensor, factor: Int) -> Tensor {
    x.applying(PixelUnshuffle(factor: factor))
}

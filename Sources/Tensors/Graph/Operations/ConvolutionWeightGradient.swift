package import RetintTensors

/// The gradient of ``Convolution`` with respect to its weight: Σ x ⊗ dy over the positions of the
/// kernel.
///
/// x is [N, Cin, H, W], dy [N, Cout, OH, OW]; the result is [Cout, Cin/groups, KH, KW].
package struct ConvolutionWeightGradient: Operation {
    package static let name = "conv2d_weight"
    package let window: Window
    package let groups: Int
    package let kernel: Pair

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...2)
        let (x, dy) = (inputs[0], inputs[1])
        try requireRank(x, 4)
        try requireRank(dy, 4, "gradient")
        let size = try window.positions(height: x[2], width: x[3], kernel: kernel)
        try require(
            dy[0] == x[0] && dy[2] == size.height && dy[3] == size.width,
            "the gradient must be [\(x[0]), C, \(size.height), \(size.width)]")
        try require(
            x[1] % groups == 0 && dy[1] % groups == 0, "\(groups) groups do not divide channels")
        return [dy[1], x[1] / groups, kernel.height, kernel.width]
    }
}

package import RetintTensors

/// The matrix product of the last two axes (`torch.matmul`), of operands that may be transposed.
///
/// x is [..., M, K], y is [..., K, N] (or transposed); the leading axes are equal, or y has none.
package struct MatMul: Operation {
    package static let name = "matmul"
    package let transposeX: Bool
    package let transposeY: Bool

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...2)
        let (x, y) = (inputs[0], inputs[1])
        try require(x.rank >= 2 && y.rank >= 2, "operands must have rank 2 or more")
        let lead = Array(x.dimensions.dropLast(2))
        try require(
            y.rank == 2 || Array(y.dimensions.dropLast(2)) == lead,
            "leading axes must be equal, or y must be one matrix")
        let (rows, inner) = transposeX ? (x[-1], x[-2]) : (x[-2], x[-1])
        let (innerY, columns) = transposeY ? (y[-1], y[-2]) : (y[-2], y[-1])
        try require(inner == innerY, "\(inner) columns do not match \(innerY) rows")
        return Shape(lead + [rows, columns])
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let (x, y, dz) = (backward.inputs[0], backward.inputs[1], backward.gradient)
        return [
            backward.ifNeeded(0) { gradientOfX(y, dz) },
            backward.ifNeeded(1) {
                let whole =
                    transposeY
                    ? matmul(dz, x, transposeX: true, transposeY: transposeX)
                    : matmul(x, dz, transposeX: !transposeX)
                return whole.summed(to: y.shape)
            },
        ]
    }

    private func gradientOfX(_ y: Tensor, _ dz: Tensor) -> Tensor {
        guard transposeX else { return matmul(dz, y, transposeY: !transposeY) }
        if y.shape.rank == dz.shape.rank {
            return matmul(y, dz, transposeX: transposeY, transposeY: true)
        }
        // One matrix for the whole batch must be the right operand.
        let rank = dz.shape.rank
        let swapped = Array(0..<rank - 2) + [rank - 1, rank - 2]
        return matmul(dz, y, transposeY: !transposeY).transposed(swapped)
    }
}

/// The matrix product of the last two axes (`torch.matmul`).
///
/// - Parameters:
///   - x: [..., M, K], or [..., K, M] with `transposeX`.
///   - y: [..., K, N], or [..., N, K] with `transposeY`; the leading axes are those of x, or none.
/// - Returns: [..., M, N].
public func matmul(
    _ x: Tensor, _ y: Tensor, transposeX: Bool = false, transposeY: Bool = false
) -> Tensor {
    x.graph.apply(MatMul(transposeX: transposeX, transposeY: transposeY), [x, y])
}

/// x·Wᵀ + b for x [..., in], weight [out, in], bias [out] (`torch.nn.functional.linear`).
public func linear(_ x: Tensor, weight: Tensor, bias: Tensor? = nil) -> Tensor {
    let product = matmul(x, weight, transposeY: true)
    return bias.map { product + $0 } ?? product
}

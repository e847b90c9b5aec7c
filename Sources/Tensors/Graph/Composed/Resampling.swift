internal import RetintTensors

/// Bilinear resizing to any size, as products with matrices that have two weights per row.
package struct Resampling {
    /// The input coordinate of output index i.
    package enum Grid {
        /// (i + ½)·in/out − ½
        case halfPixels
        /// i·(in − 1)/(out − 1)
        case alignedCorners
        /// i·in/out
        case legacy
    }

    private let grid: Grid

    package init(grid: Grid) { self.grid = grid }

    /// Resizes x, [N, C, H, W], to [N, C, size.height, size.width].
    package func resized(_ x: Tensor, to size: Pair) -> Tensor {
        let columns = x.graph.constant(matrix(x.shape[3], size.width))
        let rows = x.graph.constant(matrix(x.shape[2], size.height))
        let wide = matmul(x, columns, transposeY: true).transposed([0, 1, 3, 2])
        return matmul(wide, rows, transposeY: true).transposed([0, 1, 3, 2])
    }

    /// The interpolation weights, [out, in].
    private func matrix(_ input: Int, _ output: Int) -> TensorData {
        var weights = [Float](repeating: 0, count: output * input)
        for index in 0..<output {
            let position = min(max(coordinate(index, input, output), 0), Double(input - 1))
            let low = Int(position)
            let share = Float(position - Double(low))
            weights[index * input + low] += 1 - share
            weights[index * input + min(low + 1, input - 1)] += share
        }
        return TensorData(shape: [output, input], scalars: weights)
    }

    private func coordinate(_ index: Int, _ input: Int, _ output: Int) -> Double {
        let ratio = Double(input) / Double(output)
        switch grid {
        case .halfPixels: return (Double(index) + 0.5) * ratio - 0.5
        case .legacy: return Double(index) * ratio
        case .alignedCorners:
            return output == 1 ? 0 : Double(index * (input - 1)) / Double(output - 1)
        }
    }
}

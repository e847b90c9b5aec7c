import MLPackage
import TensorGraph

/// Bilinear resizing to any size: products with matrices of two weights a row.
struct Resampling {
    /// Where output places lie among the input's.
    enum Grid {
        /// (i + ½)·in/out − ½
        case halfPixels
        /// i·(in − 1)/(out − 1)
        case alignedCorners
        /// i·in/out
        case legacy
    }

    let grid: Grid

    /// Resizes [N, C, H, W] to other rows and columns.
    func resized(_ x: Tensor, to size: Pair) -> Tensor {
        let columns = x.graph.constant(matrix(x.shape[3], size.width))
        let rows = x.graph.constant(matrix(x.shape[2], size.height))
        let wide = matmul(x, columns, transposeY: true).transposed([0, 1, 3, 2])
        return matmul(wide, rows, transposeY: true).transposed([0, 1, 3, 2])
    }

    /// The weight of each input place for each output place, [out, in].
    private func matrix(_ input: Int, _ output: Int) -> TensorData {
        var weights = [Float](repeating: 0, count: output * input)
        for index in 0..<output {
            let place = min(max(place(index, input, output), 0), Double(input - 1))
            let low = Int(place)
            let share = Float(place - Double(low))
            weights[index * input + low] += 1 - share
            weights[index * input + min(low + 1, input - 1)] += share
        }
        return TensorData(shape: [output, input], scalars: weights)
    }

    private func place(_ index: Int, _ input: Int, _ output: Int) -> Double {
        let ratio = Double(input) / Double(output)
        switch grid {
        case .halfPixels: return (Double(index) + 0.5) * ratio - 0.5
        case .legacy: return Double(index) * ratio
        case .alignedCorners:
            return output == 1 ? 0 : Double(index * (input - 1)) / Double(output - 1)
        }
    }
}

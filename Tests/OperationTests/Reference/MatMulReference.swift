import RetintGraph
import RetintTensors

extension MatMul: ReferenceOperation {
    func reference(_ inputs: [ReferenceArray], shape: Shape) -> [Double] {
        let (x, y) = (inputs[0], inputs[1])
        let (rows, columns) = (shape[-2], shape[-1])
        let inner = x.shape[transposeX ? -2 : -1]
        let (xRow, xInner) = transposeX ? (1, rows) : (inner, 1)
        let (yInner, yColumn) = transposeY ? (1, inner) : (columns, 1)
        return (0..<shape.count).map { place in
            let (row, column) = (place / columns % rows, place % columns)
            let batch = place / (rows * columns)
            let xStart = batch * rows * inner + row * xRow
            let yStart = (y.shape.rank == 2 ? 0 : batch * inner * columns) + column * yColumn
            return (0..<inner).reduce(0) {
                $0 + x[xStart + $1 * xInner] * y[yStart + $1 * yInner]
            }
        }
    }
}

import RetintGraph
import RetintTensors

extension MatMul: SteppedOperation {
    func values(_ inputs: [Float64Array], shape: Shape, _ steps: Steps) -> [Double] {
        let (x, y) = (inputs[0], inputs[1])
        let (rows, columns) = (shape[-2], shape[-1])
        let inner = x.shape[transposeX ? -2 : -1]
        var result = zeros(shape)
        let batch = result.count / max(rows * columns, 1)
        let isShared = y.shape.rank == 2
        x.values.withUnsafeBufferPointer { x in
            y.values.withUnsafeBufferPointer { y in
                result.withUnsafeMutableBufferPointer { result in
                    guard let x = x.baseAddress, let y = y.baseAddress,
                        let result = result.baseAddress
                    else { return }
                    for index in 0..<batch {
                        multiply(
                            Float64Matrix(
                                pointer: x + index * rows * inner,
                                stride: transposeX ? rows : inner, isTransposed: transposeX),
                            Float64Matrix(
                                pointer: y + (isShared ? 0 : index * inner * columns),
                                stride: transposeY ? inner : columns, isTransposed: transposeY),
                            rows: rows, inner: inner, columns: columns,
                            addingTo: result + index * rows * columns, stride: columns, steps)
                    }
                }
            }
        }
        return result
    }
}

import RetintGraph
import RetintTensors

/// The elements of `array` broadcast to `shape`: repeated axes are walked with stride 0.
func repeated(_ array: Float64Array, to shape: Shape) -> [Double] {
    guard array.shape != shape else { return array.values }
    guard array.shape.count > 1 else {
        return [Double](repeating: array[0], count: shape.count)
    }
    let added = [Int](repeating: 0, count: shape.rank - array.shape.rank)
    let own = zip(array.shape.dimensions, array.shape.strides).map { $0 == 1 ? 0 : $1 }
    return offsets(shape.dimensions, strides: added + own).map { array[$0] }
}

extension Broadcast: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        repeated(inputs[0], to: shape)
    }
}

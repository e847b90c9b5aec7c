import RetintGraph
import RetintTensors

/// The elements of `array` broadcast to `shape`: repeated axes are walked with stride 0.
func repeated(_ array: ReferenceArray, to shape: Shape) -> [Double] {
    let added = [Int](repeating: 0, count: shape.rank - array.shape.rank)
    let own = zip(array.shape.dimensions, array.shape.strides).map { $0 == 1 ? 0 : $1 }
    return offsets(shape.dimensions, strides: added + own).map { array[$0] }
}

extension Broadcast: ReferenceOperation {
    func reference(_ inputs: [ReferenceArray], shape: Shape) -> [Double] {
        repeated(inputs[0], to: shape)
    }
}

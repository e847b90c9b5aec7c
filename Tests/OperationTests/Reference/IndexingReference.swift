import RetintGraph
import RetintTensors

extension GatherElements: ReferenceOperation {
    func reference(_ inputs: [ReferenceArray], shape: Shape) -> [Double] {
        let sources = places(inputs[1], in: inputs[0].shape, axis)
        return sources.map { inputs[0].values[$0] }
    }
}

extension ScatterElements: ReferenceOperation {
    func reference(_ inputs: [ReferenceArray], shape: Shape) -> [Double] {
        var sums = [Double](repeating: 0, count: shape.count)
        for (value, place) in zip(inputs[0].values, places(inputs[1], in: shape, axis)) {
            sums[place] += value
        }
        return sums
    }
}

extension TopIndices: ReferenceOperation {
    func reference(_ inputs: [ReferenceArray], shape: Shape) -> [Double] {
        let x = inputs[0]
        let (size, step) = (x.shape[axis], x.shape.strides[axis])
        return (0..<shape.count).map { element in
            let rank = element / shape.strides[axis] % count
            let outer = element / (shape.strides[axis] * count)
            let first = outer * size * step + element % step
            let order = (0..<size).sorted {
                x.values[first + $0 * step] > x.values[first + $1 * step]
            }
            return Double(order[rank])
        }
    }
}

/// For each index, the element of a tensor of `shape` that it names.
private func places(_ indices: ReferenceArray, in shape: Shape, _ axis: Int) -> [Int] {
    indices.values.enumerated().map { element, index in
        (0..<shape.rank).reduce(0) { place, dimension in
            let own = element / indices.shape.strides[dimension] % indices.shape[dimension]
            let position = dimension == axis ? (Int(index) + shape[axis]) % shape[axis] : own
            return place + position * shape.strides[dimension]
        }
    }
}

import RetintGraph
import RetintTensors

extension GatherElements: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) throws -> [Double] {
        let sources = try places(inputs[1], in: inputs[0].shape, axis)
        return sources.map { inputs[0].values[$0] }
    }
}

extension ScatterElements: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) throws -> [Double] {
        var sums = [Double](repeating: 0, count: shape.count)
        for (value, place) in zip(inputs[0].values, try places(inputs[1], in: shape, axis)) {
            sums[place] += value
        }
        return sums
    }
}

extension TopIndices: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        let x = inputs[0]
        let (size, step) = (x.shape[axis], x.shape.strides[axis])
        return (0..<shape.count).map { element in
            let rank = element / shape.strides[axis] % count
            let outer = element / (shape.strides[axis] * count)
            let first = outer * size * step + element % step
            func key(_ index: Int) -> Double {
                let value = x.values[first + index * step]
                return value.isNaN ? .infinity : value
            }
            let order = (0..<size).sorted { a, b in
                let (one, other) = (key(a), key(b))
                return one == other ? a < b : one > other
            }
            return Double(order[rank])
        }
    }
}

/// For each index, the element of a tensor of `shape` that it names.
private func places(
    _ indices: Float64Array, in shape: Shape, _ axis: Int
) throws(Float64Error) -> [Int] {
    var places: [Int] = []
    places.reserveCapacity(indices.values.count)
    let size = Float(shape[axis])
    for (element, value) in indices.values.enumerated() {
        // One that was computed is whole in float32 only.
        let index = Float(value)
        guard index.rounded() == index, index >= -size, index < size else {
            throw Float64Error(description: "index \(index) is out of range for axis \(axis)")
        }
        let place = (0..<shape.rank).reduce(0) { place, dimension in
            let own = element / indices.shape.strides[dimension] % indices.shape[dimension]
            let position = dimension == axis ? (Int(index) + shape[axis]) % shape[axis] : own
            return place + position * shape.strides[dimension]
        }
        places.append(place)
    }
    return places
}

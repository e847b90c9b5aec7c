import RetintGraph
import RetintTensors

// Operations that move numbers without changing them.

extension Reshape: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] { inputs[0].values }
}

extension Transpose: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        let strides = inputs[0].shape.strides
        return offsets(shape.dimensions, strides: permutation.map { strides[$0] })
            .map { inputs[0][$0] }
    }
}

extension Slice: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        places(of: shape, in: inputs[0].shape).map { inputs[0][$0] }
    }

    /// Where the elements of the part lie in the whole.
    fileprivate func places(of part: Shape, in whole: Shape) -> [Int] {
        let start = zip(begin, whole.strides).map(*).reduce(0, +)
        return offsets(
            part.dimensions, strides: zip(stride, whole.strides).map(*), start: start)
    }
}

extension SliceScatter: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        let places = slice.places(of: inputs[0].shape, in: shape)
        return writing(inputs[0].values, at: places, into: zeros(shape))
    }
}

extension Pad: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        let start = zip(before, shape.strides).map(*).reduce(0, +)
        let places = offsets(inputs[0].shape.dimensions, strides: shape.strides, start: start)
        let border = [Double](repeating: Double(value), count: shape.count)
        return writing(inputs[0].values, at: places, into: border)
    }
}

extension Concat: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        var (result, start) = (zeros(shape), 0)
        let axis = axis < 0 ? axis + shape.rank : axis
        for part in inputs {
            let places = offsets(
                part.shape.dimensions, strides: shape.strides, start: start * shape.strides[axis])
            // In place: a copy for each of many inputs would take time that grows quadratically.
            write(part.values, at: places, into: &result)
            start += part.shape[axis]
        }
        return result
    }
}

extension PixelShuffle: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        shuffledPlaces(small: inputs[0].shape, factor).map { inputs[0][$0] }
    }
}

extension PixelUnshuffle: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        writing(inputs[0].values, at: shuffledPlaces(small: shape, factor), into: zeros(shape))
    }
}

/// For each pixel of the large picture, in order, where it lies in the small one: output row
/// h·f + i and column w·f + j of channel c come from channel (c·f + i)·f + j at (h, w).
private func shuffledPlaces(small: Shape, _ factor: Int) -> [Int] {
    let (channels, height, width) = (small[1] / (factor * factor), small[2], small[3])
    let s = Shape([small[0], channels, factor, factor, height, width]).strides
    return offsets(
        [small[0], channels, height, factor, width, factor],
        strides: [s[0], s[1], s[4], s[2], s[5], s[3]])
}

func zeros(_ shape: Shape) -> [Double] { [Double](repeating: 0, count: shape.count) }

private func writing(_ values: [Double], at places: [Int], into whole: [Double]) -> [Double] {
    var whole = whole
    write(values, at: places, into: &whole)
    return whole
}

private func write(_ values: [Double], at places: [Int], into whole: inout [Double]) {
    for (place, value) in zip(places, values) { whole[place] = value }
}

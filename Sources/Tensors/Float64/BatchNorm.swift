import RetintGraph
import RetintTensors

/// The channel of each element of [N, C, …].
private func channels(_ shape: Shape) -> [Int] {
    let inner = shape.dimensions.dropFirst(2).reduce(1, *)
    return (0..<shape.count).map { $0 / inner % shape[1] }
}

/// The sum of `values` in each channel.
private func perChannelSums(_ shape: Shape, _ values: [Double]) -> [Double] {
    var sums = [Double](repeating: 0, count: shape[1])
    for (channel, value) in zip(channels(shape), values) { sums[channel] += value }
    return sums
}

/// (x − mean)/√(variance + ε) with the statistics of each element's channel.
private func normalized(
    _ x: Float64Array, _ mean: [Double], _ variance: [Double], _ epsilon: Float,
    _ steps: Steps = .exact
) -> [Double] {
    let epsilon = steps.rounded(Double(epsilon), at: 0)
    let deviations = variance.map { steps(.squareRoot, steps(.add, $0, epsilon)) }
    return zip(x.values, channels(x.shape)).enumerated().map { place, pair in
        let centered = steps(.subtract, pair.0, mean[pair.1], at: place)
        return steps(.divide, centered, deviations[pair.1], at: place)
    }
}

/// The rows of [2, C].
private func rows(_ array: Float64Array) -> ([Double], [Double]) {
    let count = array.shape[1]
    return (Array(array.values[..<count]), Array(array.values[count...]))
}

private func scaled(
    _ values: [Double], _ shape: Shape, _ weight: Float64Array, _ bias: Float64Array,
    _ steps: Steps = .exact
) -> [Double] {
    zip(values, channels(shape)).enumerated().map { place, pair in
        let product = steps(.multiply, pair.0, weight[pair.1], at: place)
        return steps(.add, product, bias[pair.1], at: place)
    }
}

extension BatchNormInference: SteppedOperation {
    func values(_ inputs: [Float64Array], shape: Shape, _ steps: Steps) -> [Double] {
        let unit = normalized(inputs[0], inputs[3].values, inputs[4].values, epsilon, steps)
        return scaled(unit, shape, inputs[1], inputs[2], steps)
    }
}

extension BatchMoments: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        let x = inputs[0]
        let count = Double(x.shape.count / x.shape[1])
        let mean = perChannelSums(x.shape, x.values).map { $0 / count }
        let squares = zip(x.values, channels(x.shape)).map { value, channel in
            (value - mean[channel]) * (value - mean[channel])
        }
        return mean + perChannelSums(x.shape, squares).map { $0 / count }
    }
}

extension BatchNormTraining: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        let (mean, variance) = rows(inputs[3])
        let unit = normalized(inputs[0], mean, variance, epsilon)
        return scaled(unit, shape, inputs[1], inputs[2])
    }
}

extension BatchNormGradientSums: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        let (x, dy) = (inputs[0], inputs[2].values)
        let (mean, variance) = rows(inputs[1])
        let unit = normalized(x, mean, variance, epsilon)
        return perChannelSums(x.shape, dy) + perChannelSums(x.shape, zip(dy, unit).map(*))
    }
}

extension BatchNormInputGradient: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        let (x, weight, dy) = (inputs[0], inputs[1], inputs[3].values)
        let (mean, variance) = rows(inputs[2])
        let (sums, products) = rows(inputs[4])
        let unit = normalized(x, mean, variance, epsilon)
        let count = Double(shape.count / shape[1])
        return channels(shape).enumerated().map { place, channel in
            let scale = weight[channel] / (variance[channel] + Double(epsilon)).squareRoot()
            let ways = (sums[channel] + unit[place] * products[channel]) / count
            return scale * (dy[place] - ways)
        }
    }
}

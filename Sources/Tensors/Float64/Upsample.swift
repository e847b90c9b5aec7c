import RetintGraph
import RetintTensors

/// One sample of linear interpolation: `1 − fraction` of element `low`, `fraction` of `high`.
private struct LinearSample {
    let low: Int
    let high: Int
    let fraction: Double

    static func all(count: Int, factor: Int, alignCorners: Bool) -> [LinearSample] {
        let last = count - 1
        return (0..<count * factor).map { index in
            let scale = alignCorners ? Double(last) / Double(Swift.max(count * factor - 1, 1)) : 0
            let place =
                alignCorners
                ? Double(index) * scale
                : Swift.max((Double(index) + 0.5) / Double(factor) - 0.5, 0)
            let low = Swift.min(Int(place), last)
            return LinearSample(
                low: low, high: Swift.min(low + 1, last), fraction: place - Double(low))
        }
    }

    var taps: [(Int, Double)] { [(low, 1 - fraction), (high, fraction)] }
}

extension UpsampleBilinear: SteppedOperation {
    func values(_ inputs: [Float64Array], shape: Shape, _ steps: Steps) -> [Double] {
        var y = zeros(shape)
        forEachTap(small: inputs[0].shape) { small, large, weight in
            y[large] = steps.added(y[large], steps.product(weight, inputs[0][small], large), large)
        }
        return y
    }

    /// Each pair of a small picture's and a large picture's pixel with its weight.
    fileprivate func forEachTap(small: Shape, _ body: (Int, Int, Double) -> Void) {
        let rows = LinearSample.all(
            count: small[2], factor: factor.height, alignCorners: alignCorners)
        let columns = LinearSample.all(
            count: small[3], factor: factor.width, alignCorners: alignCorners)
        for plane in 0..<small[0] * small[1] {
            for (y, row) in rows.enumerated() {
                for (x, column) in columns.enumerated() {
                    let large = (plane * rows.count + y) * columns.count + x
                    for (i, down) in row.taps {
                        for (j, across) in column.taps {
                            body((plane * small[2] + i) * small[3] + j, large, down * across)
                        }
                    }
                }
            }
        }
    }
}

extension UpsampleBilinearGradient: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        var dx = zeros(shape)
        upsample.forEachTap(small: shape) { dx[$0] += $2 * inputs[0][$1] }
        return dx
    }
}

extension UpsampleNearest: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        let small = inputs[0].shape
        return (0..<shape.count).map { place in
            let (x, y) = (place % shape[3], place / shape[3] % shape[2])
            let plane = place / (shape[3] * shape[2])
            let row = plane * small[2] + y / factor.height
            return inputs[0][row * small[3] + x / factor.width]
        }
    }
}

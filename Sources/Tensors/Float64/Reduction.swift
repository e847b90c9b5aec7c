import RetintGraph
import RetintTensors

/// Takes the elements along some axes to one.
protocol Float64Reduction: SteppedOperation, AxisReduction {
    /// - Parameters:
    ///   - sum: adds the elements in the order of the steps.
    func value(_ elements: [Double], _ steps: Steps, sum: ([Double]) -> Double) -> Double
}

extension Float64Reduction {
    func values(_ inputs: [Float64Array], shape: Shape, _ steps: Steps) -> [Double] {
        let (starts, offsets) = fibers(of: inputs[0].shape, along: places(axes, inputs[0].shape))
        let plan = steps.plan(offsets.count)
        return starts.map { start in
            value(offsets.map { inputs[0][start + $0] }, steps) { elements in
                steps.sum(plan, at: start) { elements[$0] }
            }
        }
    }
}

/// Axes counted from the front; all of them if none is named.
private func places(_ axes: [Int], _ shape: Shape) -> [Int] {
    axes.isEmpty ? Array(0..<shape.rank) : axes.map { $0 < 0 ? $0 + shape.rank : $0 }
}

/// Where the fibers of a tensor along `axes` begin, and the steps to the elements of one.
private func fibers(of shape: Shape, along axes: [Int]) -> (starts: [Int], steps: [Int]) {
    let strides = shape.strides
    let others = (0..<shape.rank).filter { !axes.contains($0) }
    let inside = axes.sorted()
    return (
        offsets(others.map { shape[$0] }, strides: others.map { strides[$0] }),
        offsets(inside.map { shape[$0] }, strides: inside.map { strides[$0] })
    )
}

extension Sum: Float64Reduction {
    func value(_ elements: [Double], _ steps: Steps, sum: ([Double]) -> Double) -> Double {
        sum(elements)
    }
}
extension Mean: Float64Reduction {
    /// The number of elements is not rounded: it is known when a network is compiled.
    func value(_ elements: [Double], _ steps: Steps, sum: ([Double]) -> Double) -> Double {
        steps.rounded(sum(elements) / Double(elements.count), at: 0)
    }
}
extension Max: Float64Reduction {
    func value(_ elements: [Double], _ steps: Steps, sum: ([Double]) -> Double) -> Double {
        elements.reduce(-.infinity, larger)
    }
}

extension Softmax: SteppedOperation {
    func values(_ inputs: [Float64Array], shape: Shape, _ steps: Steps) -> [Double] {
        let plan = steps.plan(inputs[0].shape[axis])
        return alongFibers(inputs[0], axis) { elements, highest in
            let powers = elements.map { steps(.exp, steps(.subtract, $0, highest)) }
            let total = steps.sum(plan) { powers[$0] }
            return powers.map { steps(.divide, $0, total) }
        }
    }
}

extension LogSoftmax: SteppedOperation {
    func values(_ inputs: [Float64Array], shape: Shape, _ steps: Steps) -> [Double] {
        let plan = steps.plan(inputs[0].shape[axis])
        return alongFibers(inputs[0], axis) { elements, highest in
            let differences = elements.map { steps(.subtract, $0, highest) }
            let powers = differences.map { steps(.exp, $0) }
            let logarithm = steps(.log, steps.sum(plan) { powers[$0] })
            return differences.map { steps(.subtract, $0, logarithm) }
        }
    }
}

/// Rewrites each fiber along `axis`; the function gets its elements and their maximum.
private func alongFibers(
    _ x: Float64Array, _ axis: Int, _ function: ([Double], Double) -> [Double]
) -> [Double] {
    var result = x.values
    let (starts, steps) = fibers(of: x.shape, along: places([axis], x.shape))
    for start in starts {
        let elements = steps.map { x[start + $0] }
        for (step, value) in zip(steps, function(elements, elements.reduce(-.infinity, Swift.max)))
        {
            result[start + step] = value
        }
    }
    return result
}

extension FakeQuantize: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        let x = inputs[0]
        let axes = (0..<shape.rank).filter { $0 != axis }
        let (starts, steps) = fibers(of: shape, along: axes)
        var result = x.values
        for start in starts {
            let largest = steps.map { abs(x[start + $0]) }.max() ?? 0
            let scale = largest > 0 ? largest / Double(largestCode) : 1
            for step in steps {
                result[start + step] = scale * (x[start + step] / scale).rounded(.toNearestOrEven)
            }
        }
        return result
    }
}

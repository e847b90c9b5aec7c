import Foundation
import RetintGraph
import RetintTensors

/// Takes the elements along some axes to one.
protocol Float64Reduction: Float64Operation, AxisReduction {
    func value(_ elements: [Double]) -> Double
}

extension Float64Reduction {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        let (starts, steps) = fibers(of: inputs[0].shape, along: places(axes, inputs[0].shape))
        return starts.map { start in value(steps.map { inputs[0][start + $0] }) }
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
    func value(_ elements: [Double]) -> Double { elements.reduce(0, +) }
}
extension Mean: Float64Reduction {
    func value(_ elements: [Double]) -> Double { elements.reduce(0, +) / Double(elements.count) }
}
extension Max: Float64Reduction {
    func value(_ elements: [Double]) -> Double { elements.reduce(-.infinity, larger) }
}

extension Softmax: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        alongFibers(inputs[0], axis) { elements, highest in
            let powers = elements.map { Foundation.exp($0 - highest) }
            let total = powers.reduce(0, +)
            return powers.map { $0 / total }
        }
    }
}

extension LogSoftmax: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        alongFibers(inputs[0], axis) { elements, highest in
            let total = elements.map { Foundation.exp($0 - highest) }.reduce(0, +)
            return elements.map { $0 - highest - Foundation.log(total) }
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

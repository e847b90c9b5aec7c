import RetintGraph
import RetintTensors

/// An operation that backends compute as others: those fuse with their neighbors, or are simpler
/// for the order of memory.
package protocol ComposedOperation: Operation {
    func composed(_ inputs: [Tensor]) -> Tensor
}

/// Only rank 4 is channels-last in memory; other ranks are reshaped to it.
private func channelsLast(_ x: Tensor) -> Tensor {
    guard x.shape.rank != 4 else { return x }
    let pixels = x.shape.dimensions.dropFirst(2).reduce(1, *)
    return x.reshaped([x.shape[0], x.shape[1], pixels, 1])
}

extension BatchMoments: ComposedOperation {
    package func composed(_ inputs: [Tensor]) -> Tensor {
        channelsLast(inputs[0]).applying(self)
    }
}

extension BatchNormGradientSums: ComposedOperation {
    package func composed(_ inputs: [Tensor]) -> Tensor {
        inputs[0].graph.apply(
            self, [channelsLast(inputs[0]), inputs[1], channelsLast(inputs[2])])
    }
}

/// x·scale + shift with one scale and shift per channel.
private func affine(_ x: Tensor, scale: Tensor, shift: Tensor) -> Tensor {
    x * perChannel(scale, like: x) + perChannel(shift, like: x)
}

extension BatchNormInference: ComposedOperation {
    package func composed(_ inputs: [Tensor]) -> Tensor {
        let scale = inputs[1] / sqrt(inputs[4] + epsilon)
        return affine(inputs[0], scale: scale, shift: inputs[2] - inputs[3] * scale)
    }
}

extension Tensor {
    /// One row of moments or sums, [2, C], as [C].
    fileprivate func row(_ index: Int) -> Tensor {
        sliced(axis: 0, index..<(index + 1)).reshaped([shape[1]])
    }
}

extension BatchNormTraining: ComposedOperation {
    package func composed(_ inputs: [Tensor]) -> Tensor {
        let (mean, variance) = (inputs[3].row(0), inputs[3].row(1))
        let scale = inputs[1] / sqrt(variance + epsilon)
        return affine(inputs[0], scale: scale, shift: inputs[2] - mean * scale)
    }
}

extension BatchNormInputGradient: ComposedOperation {
    /// dy·a + x·b + c with per-channel a, b, c.
    package func composed(_ inputs: [Tensor]) -> Tensor {
        let (x, dy) = (inputs[0], inputs[3])
        let count = Float(x.shape.count / x.shape[1])
        let (mean, variance) = (inputs[2].row(0), inputs[2].row(1))
        let (sum, products) = (inputs[4].row(0), inputs[4].row(1))
        let inverse = 1 / sqrt(variance + epsilon)
        let a = inputs[1] * inverse
        let b = -(a * inverse * products) / count
        let c = -(a * sum) / count - b * mean
        return dy * perChannel(a, like: x) + affine(x, scale: b, shift: c)
    }
}

// MARK: Reductions

/// A reduction that is composed of some over axes that are adjacent in memory.
package protocol ComposedReduction: AxisReduction, ComposedOperation {}

extension ComposedReduction {
    /// One reduction for each run of adjacent axes, which keeps them, and a reshape.
    package func composed(_ inputs: [Tensor]) -> Tensor {
        let x = inputs[0]
        guard let reduced = try? reducedAxes(of: x.shape),
            let result = try? outputShape(for: [x.shape])
        else { return x.graph.apply(self, inputs) }
        let kept = runs(of: reduced, in: x.shape).reversed().reduce(x) { value, axes in
            value.applying(Self(axes: axes, keepDims: true))
        }
        return kept.reshaped(result)
    }

    private func runs(of reduced: [Int], in shape: Shape) -> [[Int]] {
        var runs: [[Int]] = []
        var joins = false
        for axis in Layout.axes(rank: shape.rank) where shape[axis] != 1 {
            guard reduced.contains(axis) else {
                joins = false
                continue
            }
            if joins { runs[runs.count - 1].append(axis) } else { runs.append([axis]) }
            joins = true
        }
        return runs
    }
}

extension Max: ComposedReduction {}
extension Mean: ComposedReduction {}
extension Sum: ComposedReduction {}

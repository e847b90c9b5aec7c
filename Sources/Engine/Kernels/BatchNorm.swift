import CKernels
import TensorGraph

#if canImport(Glibc)
    import Glibc
#endif

/// Two sums per channel over all pixels: what the threads find is added up in their order.
class ChannelSumsKernel: Kernel {
    let rows: Int
    let channels: Int
    let output: Buffer

    init(name: String, input: Buffer, output: Buffer) {
        channels = input.shape[1]
        rows = input.count / channels
        self.output = output
        super.init(name: name, work: input.count)
    }

    override var phases: Int { 2 }
    override func workspaceCount(threads: Int) -> Int { threads * channels * 4 }

    /// Adds the sums of `range` to `sums`, [2, channels].
    func accumulate(_ range: Range<Int>, _ sums: UnsafeMutablePointer<Double>) {}
    /// The two results of a channel from its sums.
    func result(_ channel: Int, _ first: Double, _ second: Double) -> (Float, Float) { (0, 0) }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let width = 2 * channels
        workspace.withMemoryRebound(to: Double.self, capacity: part.of * width) { sums in
            if phase == 0 {
                let own = sums + part.index * width
                own.update(repeating: 0, count: width)
                accumulate(part.range(rows), own)
            } else if part.index == 0 {
                combine(sums, threads: part.of)
            }
        }
    }

    private func combine(_ sums: UnsafeMutablePointer<Double>, threads: Int) {
        let y = output.pointer
        for channel in 0..<channels {
            var (first, second) = (0.0, 0.0)
            for thread in 0..<threads {
                first += sums[thread * 2 * channels + channel]
                second += sums[thread * 2 * channels + channels + channel]
            }
            (y[channel], y[channels + channel]) = result(channel, first, second)
        }
    }
}

/// Means and biased variances, from sums shifted by the first pixel so that nothing cancels.
final class BatchMomentsKernel: ChannelSumsKernel {
    private let input: Buffer

    init(input: Buffer, output: Buffer) {
        self.input = input
        super.init(name: BatchMoments.name, input: input, output: output)
    }

    override func accumulate(_ range: Range<Int>, _ sums: UnsafeMutablePointer<Double>) {
        let x = input.pointer
        rt_column_moments(sums, x, x, channels, range.lowerBound, range.upperBound)
    }

    override func result(_ channel: Int, _ sum: Double, _ squares: Double) -> (Float, Float) {
        let mean = sum / Double(rows)
        let variance = max(squares / Double(rows) - mean * mean, 0)
        return (Float(Double(input.pointer[channel]) + mean), Float(variance))
    }
}

/// Σ dy and Σ dy·x̂ per channel.
final class BatchNormGradientSumsKernel: ChannelSumsKernel {
    private let x: Buffer
    private let moments: Buffer
    private let gradient: Buffer
    private let epsilon: Float

    init(epsilon: Float, x: Buffer, moments: Buffer, gradient: Buffer, output: Buffer) {
        self.x = x
        self.moments = moments
        self.gradient = gradient
        self.epsilon = epsilon
        super.init(name: BatchNormGradientSums.name, input: x, output: output)
    }

    override func accumulate(_ range: Range<Int>, _ sums: UnsafeMutablePointer<Double>) {
        rt_column_products(
            sums, x.pointer, gradient.pointer, moments.pointer, channels, range.lowerBound,
            range.upperBound)
    }

    override func result(_ channel: Int, _ sum: Double, _ products: Double) -> (Float, Float) {
        let variance = Double(moments.pointer[channels + channel]) + Double(epsilon)
        return (Float(sum), Float(products / variance.squareRoot()))
    }
}

/// The physical order puts channels last only for rank 4; other ranks take the way through it.
private func channelsLast(_ x: Tensor) -> Tensor {
    guard x.shape.rank != 4 else { return x }
    let pixels = x.shape.dimensions.dropFirst(2).reduce(1, *)
    return x.reshaped([x.shape[0], x.shape[1], pixels, 1])
}

extension BatchMoments: Executable, DecomposableOperation {
    func decomposed(_ inputs: [Tensor]) -> Tensor {
        channelsLast(inputs[0]).applying(self)
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        BatchMomentsKernel(input: inputs[0], output: output)
    }
}

extension BatchNormGradientSums: Executable, DecomposableOperation {
    func decomposed(_ inputs: [Tensor]) -> Tensor {
        inputs[0].graph.apply(
            self, [channelsLast(inputs[0]), inputs[1], channelsLast(inputs[2])])
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        BatchNormGradientSumsKernel(
            epsilon: epsilon, x: inputs[0], moments: inputs[1], gradient: inputs[2],
            output: output)
    }
}

/// x·scale + shift with one scale and shift per channel.
private func affine(_ x: Tensor, scale: Tensor, shift: Tensor) -> Tensor {
    x * perChannel(scale, like: x) + perChannel(shift, like: x)
}

extension BatchNormInference: DecomposableOperation {
    func decomposed(_ inputs: [Tensor]) -> Tensor {
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

extension BatchNormTraining: DecomposableOperation {
    func decomposed(_ inputs: [Tensor]) -> Tensor {
        let (mean, variance) = (inputs[3].row(0), inputs[3].row(1))
        let scale = inputs[1] / sqrt(variance + epsilon)
        return affine(inputs[0], scale: scale, shift: inputs[2] - mean * scale)
    }
}

extension BatchNormInputGradient: DecomposableOperation {
    /// dy·a + x·b + c with per-channel a, b, c.
    func decomposed(_ inputs: [Tensor]) -> Tensor {
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

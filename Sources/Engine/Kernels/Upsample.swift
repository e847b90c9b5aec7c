import CKernels
import TensorGraph

/// Where each output along one axis samples its input: between `lower` and `upper`.
private struct Samples {
    var lower: [Int32] = []
    var upper: [Int32] = []
    /// The share of the upper sample.
    var weight: [Float] = []
    /// For each input, the outputs `first..<last` that read it.
    var first: [Int32]
    var last: [Int32]

    init(inputs: Int, factor: Int, alignCorners: Bool) {
        let outputs = inputs * factor
        first = [Int32](repeating: Int32(outputs), count: inputs)
        last = [Int32](repeating: 0, count: inputs)
        for place in 0..<outputs {
            let source = Self.source(place, inputs, outputs, alignCorners)
            let low = min(Int(source), inputs - 1)
            let high = min(low + 1, inputs - 1)
            lower.append(Int32(low))
            upper.append(Int32(high))
            weight.append(Float(source - Double(low)))
            for input in [low, high] {
                first[input] = min(first[input], Int32(place))
                last[input] = max(last[input], Int32(place + 1))
            }
        }
    }

    private static func source(
        _ place: Int, _ inputs: Int, _ outputs: Int, _ alignCorners: Bool
    ) -> Double {
        if alignCorners {
            return outputs > 1 ? Double(place * (inputs - 1)) / Double(outputs - 1) : 0
        }
        return max((Double(place) + 0.5) * Double(inputs) / Double(outputs) - 0.5, 0)
    }
}

extension UpsampleBilinear: Executable {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let x = inputs[0]
        let (shape, size) = (x.shape, output.shape)
        let rows = Samples(inputs: shape[2], factor: factor.height, alignCorners: alignCorners)
        let columns = Samples(inputs: shape[3], factor: factor.width, alignCorners: alignCorners)
        return LoopKernel(name: name, work: output.count, count: size[0] * size[2]) { range in
            rt_bilinear(
                output.pointer, x.pointer, Int32(shape[2]), Int32(shape[3]), Int32(shape[1]),
                Int32(size[2]), Int32(size[3]), rows.lower, rows.upper, rows.weight, columns.lower,
                columns.upper, columns.weight, range.lowerBound, range.upperBound)
        }
    }
}

extension UpsampleBilinearGradient: Executable {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let dy = inputs[0]
        let (shape, size) = (output.shape, dy.shape)
        let (factor, align) = (upsample.factor, upsample.alignCorners)
        let rows = Samples(inputs: shape[2], factor: factor.height, alignCorners: align)
        let columns = Samples(inputs: shape[3], factor: factor.width, alignCorners: align)
        return LoopKernel(name: name, work: dy.count, count: shape[0] * shape[2]) { range in
            rt_bilinear_input(
                output.pointer, dy.pointer, Int32(shape[2]), Int32(shape[3]), Int32(shape[1]),
                Int32(size[2]), Int32(size[3]), rows.lower, rows.upper, rows.weight, columns.lower,
                columns.upper, columns.weight, rows.first, rows.last, columns.first, columns.last,
                range.lowerBound, range.upperBound)
        }
    }
}

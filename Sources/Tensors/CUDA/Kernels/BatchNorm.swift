import RetintCompiler
import RetintGraph
import RetintTensors

extension BatchMoments: DeviceOperation {
    /// Sums of the distances from a channel's first element, and of their squares: those of the
    /// values themselves would cancel. One pass over the memory.
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let shape = inputs[0].shape
        let count = "\(shape.count / shape[1]).0f"
        return ChannelSums(
            name: Self.name, operands: [inputs[0]],
            setup: "const float origin = p0[c]; (void)origin;",
            terms: "const float x = p0[place] - origin; s += x, t += x * x;",
            results: { moments in
                """
                const float mean = s / \(count), variance = t / \(count) - mean * mean;
                \(moments)[c] = origin + mean;
                \(moments)[\(shape[1]) + c] = rt_max(variance, 0.0f);
                """
            }
        ).kernels(to: output)
    }
}

extension BatchNormGradientSums: DeviceOperation {
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let channels = inputs[0].shape[1]
        let variance = "p1[\(channels) + c]"
        let deviation = Formula.unary(.squareRoot, .operand(0) + Formula(epsilon))
        return ChannelSums(
            name: Self.name, operands: inputs,
            setup: "const float mean = p1[c], scale = 1.0f / \(deviation.source([variance]));"
                + " (void)mean, (void)scale;",
            terms: "const float dy = p2[place]; s += dy, t += dy * ((p0[place] - mean) * scale);",
            results: { "\($0)[c] = s; \($0)[\(channels) + c] = t;" }
        ).kernels(to: output)
    }
}

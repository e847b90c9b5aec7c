import RetintCompiler
import RetintGraph
import RetintTensors

/// A block of threads for each channel c of [N, C, …]: element j of the channel is at `place`.
private func channelKernel(
    named name: String, _ parameters: [Buffer], over shape: Shape, _ body: String
) -> DeviceKernel {
    let others = View((0..<shape.rank).filter { $0 != 1 }, of: shape)
    return DeviceKernel(
        name: name, parameters,
        """
        RT_BLOCKS(c, \(shape[1])) {
        #define PLACE(j) (c * \(Layout.strides(shape)[1])LL + \(others.source("j")))
        #define COUNT \(others.count)
        \(body)
        #undef PLACE
        #undef COUNT
        }
        """)
}

/// One thread for each element i, whose channel is c.
private func elementKernel(
    named name: String, _ parameters: [Buffer], over shape: Shape, _ body: String
) -> DeviceKernel {
    let steps = (0..<shape.rank).map { $0 == 1 ? 1 : 0 }
    return DeviceKernel(
        name: name, parameters,
        """
        RT_EACH(i, \(shape.count)) {
            const long long c = \(View(shape: shape, steps: steps).source());
        \(body)
        }
        """)
}

/// √(variance + ε) of a channel, from an expression of its variance.
private func deviation(_ variance: String, _ epsilon: Float) -> String {
    Formula.unary(.squareRoot, .operand(0) + Formula(epsilon)).source([variance])
}

extension BatchMoments: DeviceOperation {
    /// Squares of the distances from the mean: those of the values themselves would cancel.
    package func deviceKernels(
        named name: String, inputs: [Buffer], output: Buffer
    ) -> [DeviceKernel] {
        let channels = inputs[0].shape[1]
        return [
            channelKernel(
                named: name, [inputs[0], output], over: inputs[0].shape,
                """
                    rt_sum sum = 0.0f, squares = 0.0f;
                    RT_STRIDED(j, COUNT) sum += p0[PLACE(j)];
                    const float mean = rt_block_sum(sum) / COUNT;
                    RT_STRIDED(j, COUNT) {
                        const float distance = p0[PLACE(j)] - mean;
                        squares += distance * distance;
                    }
                    const float variance = rt_block_sum(squares) / COUNT;
                    RT_FIRST_THREAD p1[c] = mean, p1[\(channels) + c] = variance;
                """)
        ]
    }
}

extension BatchNormTraining: DeviceOperation {
    package func deviceKernels(
        named name: String, inputs: [Buffer], output: Buffer
    ) -> [DeviceKernel] {
        let variance = "p3[\(output.shape[1]) + c]"
        return [
            elementKernel(
                named: name, inputs + [output], over: output.shape,
                "    p4[i] = (p0[i] - p3[c]) / \(deviation(variance, epsilon)) * p1[c] + p2[c];")
        ]
    }
}

extension BatchNormInference: DeviceOperation {
    package func deviceKernels(
        named name: String, inputs: [Buffer], output: Buffer
    ) -> [DeviceKernel] {
        [
            elementKernel(
                named: name, inputs + [output], over: output.shape,
                "    p5[i] = (p0[i] - p3[c]) / \(deviation("p4[c]", epsilon)) * p1[c] + p2[c];")
        ]
    }
}

extension BatchNormGradientSums: DeviceOperation {
    package func deviceKernels(
        named name: String, inputs: [Buffer], output: Buffer
    ) -> [DeviceKernel] {
        let (shape, channels) = (inputs[0].shape, inputs[0].shape[1])
        return [
            channelKernel(
                named: name, inputs + [output], over: shape,
                """
                    const float mean = p1[c];
                    const float deviation = \(deviation("p1[\(channels) + c]", epsilon));
                    rt_sum sum = 0.0f, products = 0.0f;
                    RT_STRIDED(j, COUNT) {
                        const float dy = p2[PLACE(j)];
                        sum += dy;
                        products += dy * ((p0[PLACE(j)] - mean) / deviation);
                    }
                    const float all = rt_block_sum(sum), others = rt_block_sum(products);
                    RT_FIRST_THREAD p3[c] = all, p3[\(channels) + c] = others;
                """)
        ]
    }
}

extension BatchNormInputGradient: DeviceOperation {
    package func deviceKernels(
        named name: String, inputs: [Buffer], output: Buffer
    ) -> [DeviceKernel] {
        let channels = output.shape[1]
        return [
            elementKernel(
                named: name, inputs + [output], over: output.shape,
                """
                    const float deviation = \(deviation("p2[\(channels) + c]", epsilon));
                    const float unit = (p0[i] - p2[c]) / deviation;
                    const float ways = \
                (p4[c] + unit * p4[\(channels) + c]) / \(output.count / channels).0f;
                    p5[i] = p1[c] / deviation * (p3[i] - ways);
                """)
        ]
    }
}

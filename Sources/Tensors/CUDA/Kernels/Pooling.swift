import RetintCompiler
import RetintGraph
import RetintTensors

extension MaxPool: DeviceOperation {
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let source = WindowSource(
            kernel: kernel, window: window, image: inputs[0].shape, pooled: output.shape)
        return [
            ImageSource.kernel(
                name, inputs, output,
                """
                float value = -RT_INFINITY;
                \(source.eachElement("y", "x", "value = rt_max(value, \(source.element));"))
                p1[i] = value;
                """)
        ]
    }
}

extension MaxPoolGradient: DeviceOperation {
    /// For each element, the gradients of the windows of which it is the first largest.
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let (image, pooled) = (output.shape, inputs[1].shape)
        let source = WindowSource(
            kernel: pool.kernel, window: pool.window, image: image, pooled: pooled)
        let larger = source.eachElement(
            "oy", "ox",
            """
            const float other = \(source.element);
            const int isBefore = h < y || (h == y && w < x);
            const int isSame = other == own || (other != other && own != own);
            const int isLarger = other > own || (other != other && own == own);
            if (isLarger || (isBefore && isSame)) isLargest = 0;
            """)
        return [
            ImageSource.kernel(
                name, inputs, output,
                """
                const float own = p0[i];
                float sum = 0.0f;
                \(source.eachWindow(
                    """
                    int isLargest = 1;
                    {
                    \(indented(larger, 4))
                    }
                    if (isLargest) sum += p1[\(ImageSource.place(pooled, "oy", "ox"))];
                    """))
                p2[i] = sum;
                """)
        ]
    }
}

extension AveragePool: DeviceOperation {
    /// The number of elements that the sum of a window is divided by, from `count` of them.
    fileprivate var divisor: String {
        countIncludePad ? "\(kernel.height * kernel.width).0f" : "(float)count"
    }

    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let source = WindowSource(
            kernel: kernel, window: window, image: inputs[0].shape, pooled: output.shape)
        return [
            ImageSource.kernel(
                name, inputs, output,
                """
                float sum = 0.0f;
                int count = 0;
                \(source.eachElement("y", "x", "sum += \(source.element), count++;"))
                p1[i] = sum / \(divisor);
                """)
        ]
    }
}

extension AveragePoolGradient: DeviceOperation {
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let source = WindowSource(
            kernel: pool.kernel, window: pool.window, image: output.shape, pooled: inputs[0].shape)
        let counted =
            pool.countIncludePad
            ? "" : source.eachElement("oy", "ox", "count++;")
        return [
            ImageSource.kernel(
                name, inputs, output,
                """
                float sum = 0.0f;
                \(source.eachWindow(
                    """
                    int count = 0;
                    {
                    \(indented(counted, 4))
                    }
                    sum += p0[\(ImageSource.place(inputs[0].shape, "oy", "ox"))] / \(pool.divisor);
                    """))
                p1[i] = sum;
                """)
        ]
    }
}

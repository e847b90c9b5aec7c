import RetintCompiler
import RetintGraph
import RetintTensors

/// The code that windows share: loops over a window.
private struct WindowSource {
    let kernel: Pair
    let window: Window
    /// Of the image that windows cover, and of the result.
    let image, pooled: Shape

    /// The element of the first operand at (h, w).
    var element: String { "p0[\(ImageSource.place(image, "h", "w"))]" }

    /// Runs statements for each element of the image at (h, w) under the window at (y, x). The
    /// loops are over d and e, so that they can stand inside those of ``eachWindow(_:)``.
    func eachElement(_ y: String, _ x: String, _ body: String) -> String {
        let (top, left) = (window.padding.top, window.padding.left)
        let (strides, gaps) = (window.stride, window.dilation)
        return """
            for (int d = 0; d < \(kernel.height); d++) {
                const int h = \(y) * \(strides.height) - \(top) + d * \(gaps.height);
                if (h < 0 || h >= \(image[2])) continue;
                for (int e = 0; e < \(kernel.width); e++) {
                    const int w = \(x) * \(strides.width) - \(left) + e * \(gaps.width);
                    if (w < 0 || w >= \(image[3])) continue;
            \(indented(body, 8))
                }
            }
            """
    }

    /// Runs statements for each window, at (oy, ox), that covers the element at (y, x).
    func eachWindow(_ body: String) -> String {
        let (top, left) = (window.padding.top, window.padding.left)
        let (strides, gaps) = (window.stride, window.dilation)
        return """
            for (int a = 0; a < \(kernel.height); a++) {
                const int v = y + \(top) - a * \(gaps.height), oy = v / \(strides.height);
                if (v < 0 || v % \(strides.height) != 0 || oy >= \(pooled[2])) continue;
                for (int b = 0; b < \(kernel.width); b++) {
                    const int u = x + \(left) - b * \(gaps.width), ox = u / \(strides.width);
                    if (u < 0 || u % \(strides.width) != 0 || ox >= \(pooled[3])) continue;
            \(indented(body, 8))
                }
            }
            """
    }
}

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

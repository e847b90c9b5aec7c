import RetintCompiler
import RetintGraph
import RetintTensors

/// Where a row or column of a large image lies between two of the small one: at a fraction of whole
/// numbers, so that no position is rounded.
private struct LinearSource {
    let size, factor: Int
    let alignCorners: Bool

    private var last: Int { size - 1 }
    private var divisor: Int { alignCorners ? max(size * factor - 1, 1) : 2 * factor }

    /// Statements that set the rows `low` and `high`, and the share of `high`, with a prefix.
    func sample(of position: String, _ prefix: String) -> String {
        let numerator =
            alignCorners
            ? "\(position) * \(last)LL" : "2LL * \(position) + 1 - \(factor)"
        return """
            const long long \(prefix)n = \(numerator) < 0 ? 0 : \(numerator);
            const int \(prefix)q = (int)(\(prefix)n / \(divisor));
            const int \(prefix)low = \(prefix)q < \(last) ? \(prefix)q : \(last);
            const int \(prefix)high = \(prefix)low < \(last) ? \(prefix)low + 1 : \(last);
            const float \(prefix)share = \
            (\(prefix)n - (long long)\(prefix)low * \(divisor)) / \(divisor).0f;
            """
    }

    /// The positions whose samples may use `row`: all of them, and a few more.
    func range(of row: String) -> (begin: String, end: String) {
        let count = size * factor
        guard last > 0 else { return ("0", "\(count)") }
        let (begin, end) =
            alignCorners
            ? (
                "(int)((\(row) - 1) * \(count - 1)LL / \(last)) - 1",
                "(int)((\(row) + 1) * \(count - 1)LL / \(last)) + 2"
            ) : ("(\(row) - 1) * \(factor)", "(\(row) + 2) * \(factor)")
        return ("(\(begin) > 0 ? \(begin) : 0)", "(\(end) < \(count) ? \(end) : \(count))")
    }
}

extension UpsampleBilinear {
    fileprivate func sources(_ small: Shape) -> (rows: LinearSource, columns: LinearSource) {
        (
            LinearSource(size: small[2], factor: factor.height, alignCorners: alignCorners),
            LinearSource(size: small[3], factor: factor.width, alignCorners: alignCorners)
        )
    }
}

extension UpsampleBilinear: DeviceOperation {
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let small = inputs[0].shape
        let (rows, columns) = sources(small)
        func element(_ y: String, _ x: String) -> String {
            "p0[\(ImageSource.place(small, y, x))]"
        }
        return [
            ImageSource.kernel(
                name, inputs, output,
                """
                \(rows.sample(of: "y", "y"))
                \(columns.sample(of: "x", "x"))
                const float upper = \(element("ylow", "xlow")) * (1.0f - xshare)
                    + \(element("ylow", "xhigh")) * xshare;
                const float lower = \(element("yhigh", "xlow")) * (1.0f - xshare)
                    + \(element("yhigh", "xhigh")) * xshare;
                p1[i] = upper * (1.0f - yshare) + lower * yshare;
                """)
        ]
    }
}

extension UpsampleBilinearGradient: DeviceOperation {
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let (rows, columns) = upsample.sources(output.shape)
        let (down, across) = (rows.range(of: "y"), columns.range(of: "x"))
        func weight(_ prefix: String, _ own: String) -> String {
            "(\(prefix)low == \(own) ? 1.0f - \(prefix)share : 0.0f) "
                + "+ (\(prefix)high == \(own) ? \(prefix)share : 0.0f)"
        }
        return [
            ImageSource.kernel(
                name, inputs, output,
                """
                float sum = 0.0f;
                for (int v = \(down.begin); v < \(down.end); v++) {
                    \(rows.sample(of: "v", "v"))
                    const float vertical = \(weight("v", "y"));
                    for (int u = \(across.begin); vertical != 0.0f && u < \(across.end); u++) {
                        \(columns.sample(of: "u", "u"))
                        sum += vertical * (\(weight("u", "x"))) * \
                p0[\(ImageSource.place(inputs[0].shape, "v", "u"))];
                    }
                }
                p1[i] = sum;
                """)
        ]
    }
}

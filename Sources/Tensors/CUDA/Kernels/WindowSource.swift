import RetintGraph
import RetintTensors

/// The code that windows share: loops over a window.
struct WindowSource {
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

    /// Runs statements for each window, at (oy, ox), that covers the element at (y, x) with its
    /// element (a, b).
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

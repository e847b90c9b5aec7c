import RetintCompiler
import RetintTensors

/// The code of kernels over images, [N, C, H, W] in channels-last memory.
enum ImageSource {
    /// The coordinates n, c, y and x of element i of an image in memory.
    ///
    /// - Parameter channel: another name for c.
    static func coordinates(_ shape: Shape, channel: String = "c") -> String {
        """
        const int \(channel) = i % \(shape[1]), x = i / \(shape[1]) % \(shape[3]);
        const int y = i / \(shape[1] * shape[3]) % \(shape[2]);
        const int n = i / \(shape[1] * shape[3] * shape[2]);
        """
    }

    /// The place of an element in memory.
    static func place(_ shape: Shape, _ y: String, _ x: String) -> String {
        "\(pixel(shape, y, x)) + c"
    }

    /// The place in memory of the first channel of image n at (y, x).
    static func pixel(_ shape: Shape, _ y: String, _ x: String) -> String {
        "((n * \(shape[2])LL + \(y)) * \(shape[3]) + \(x)) * \(shape[1])"
    }

    /// One thread for each element of the result, which is an image.
    static func kernel(
        _ name: String, _ inputs: [Buffer], _ output: Buffer, _ body: String
    ) -> DeviceKernel {
        .each(
            name, inputs + [output], output.count,
            """
            {
            \(indented(coordinates(output.shape), 4))
            \(indented(body, 4))
            }
            """)
    }
}

/// Each line of `text` after some spaces.
func indented(_ text: String, _ spaces: Int) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
        .map { String(repeating: " ", count: spaces) + $0 }.joined(separator: "\n")
}

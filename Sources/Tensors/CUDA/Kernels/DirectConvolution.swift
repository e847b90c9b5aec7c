import RetintCompiler
import RetintGraph
import RetintTensors

/// Convolutions that cuDNN computes many times slower than they take to read and write, each
/// element as the sum of a few products.
enum DirectConvolution {
    /// The most channels on the side that has few, and the most products of an element: more are
    /// better computed by a GPU's units for matrix products.
    private static let (mostChannels, mostTerms) = (4, 32)

    /// The kernel for an operation; nil if cuDNN's are better.
    ///
    /// - Parameters:
    ///   - inputs: of the operation, in any format.
    ///   - output: its result.
    static func kernel(
        _ call: ConvolutionCall, _ inputs: [Buffer], _ output: Buffer
    ) -> DeviceKernel? {
        switch call.direction {
        case .forward
        where call.groups == 1 && call.x[1] <= mostChannels
            && call.w.count / max(call.w[0], 1) <= mostTerms:
            fewTerms(call, inputs[0], inputs[1], output)
        case .forward where call.isPointwise && call.w[0] <= mostChannels:
            fewOutputs(call, inputs[0], inputs[1], output)
        case .dataGradient where call.isDepthwise && call.isStrided,
            .dataGradient where call.isPointwise && call.w[0] <= mostChannels:
            dataGradient(call, inputs[0], inputs[1], output)
        default: nil
        }
    }

    /// An element of y: all channels of x under a small window. The threads of a pixel read the
    /// same elements of x.
    private static func fewTerms(
        _ call: ConvolutionCall, _ x: Buffer, _ w: Buffer, _ y: Buffer
    ) -> DeviceKernel {
        let (window, image, group) = (call.window, call.x, ChannelGroup([y]))
        return group.kernel(
            "conv2d", [x, w, y],
            """
            RT_UNROLL for (int r = 0; r < \(call.w[2]); r++) {
                const int h = y * \(window.stride.height) - \(window.padding.top)
                    + r * \(window.dilation.height);
                if (h < 0 || h >= \(image[2])) continue;
                RT_UNROLL for (int s = 0; s < \(call.w[3]); s++) {
                    const int v = x * \(window.stride.width) - \(window.padding.left)
                        + s * \(window.dilation.width);
                    if (v < 0 || v >= \(image[3])) continue;
                    RT_UNROLL for (int k = 0; k < \(call.w[1]); k++) {
                        const float element = p0[\(pixel(image, "h", "v")) + k];
                        \(group.each("sum[l] += element * p1[\(weight(call, "c + l", "k"))];"))
                    }
                }
            }
            """)
    }

    /// All elements of a pixel of y: sums over many channels, which a warp shares.
    private static func fewOutputs(
        _ call: ConvolutionCall, _ x: Buffer, _ w: Buffer, _ y: Buffer
    ) -> DeviceKernel {
        let (channels, outputs) = (call.x[1], call.w[0])
        let pixels = call.y.count / outputs
        let starts = (0..<outputs).map { "rt_sum part\($0) = 0.0f;" }
        let terms = (0..<outputs).map { "part\($0) += element * p1[\($0 * channels) + j];" }
        let results = (0..<outputs).map {
            """
            const float all\($0) = rt_block_sum(part\($0));
            RT_FIRST_THREAD p2[b * \(outputs) + \($0)] = all\($0);
            """
        }
        return DeviceKernel(
            "conv2d", [x, w, y], .blocks(pixels, threads: 32),
            """
            RT_BLOCKS(b, \(pixels)) {
            \(indented(starts.joined(separator: "\n"), 4))
                RT_STRIDED(j, \(channels)) {
                    const float element = p0[b * \(channels) + j];
            \(indented(terms.joined(separator: "\n"), 8))
                }
            \(indented(results.joined(separator: "\n"), 4))
            }
            """)
    }

    /// An element of x: the windows that cover it.
    private static func dataGradient(
        _ call: ConvolutionCall, _ y: Buffer, _ w: Buffer, _ x: Buffer
    ) -> DeviceKernel {
        let (window, image) = (call.window, call.y)
        let group = ChannelGroup(call.isDepthwise ? [x, y] : [x])
        let place = pixel(image, "oy", "ox")
        let terms =
            call.isDepthwise
            ? group.load("p0 + \(place) + c", to: "elements")
                + group.each("sum[l] += elements[l] * p1[\(weight(call, "c + l", "0"))];")
            : """
            RT_UNROLL for (int k = 0; k < \(call.w[0]); k++) {
                const float element = p0[\(place) + k];
                \(group.each("sum[l] += element * p1[\(weight(call, "k", "c + l"))];"))
            }
            """
        return group.kernel(
            "conv_transpose2d", [y, w, x],
            """
            RT_UNROLL for (int r = 0; r < \(call.w[2]); r++) {
                const int a = y + \(window.padding.top) - r * \(window.dilation.height);
                const int oy = a / \(window.stride.height);
                if (a < 0 || a % \(window.stride.height) != 0 || oy >= \(image[2])) continue;
                RT_UNROLL for (int s = 0; s < \(call.w[3]); s++) {
                    const int b = x + \(window.padding.left) - s * \(window.dilation.width);
                    const int ox = b / \(window.stride.width);
                    if (b < 0 || b % \(window.stride.width) != 0 || ox >= \(image[3])) continue;
            \(indented(terms, 8))
                }
            }
            """)
    }

    /// The place in memory of the first channel of image n at (y, x).
    private static func pixel(_ shape: Shape, _ y: String, _ x: String) -> String {
        "((n * \(shape[2])LL + \(y)) * \(shape[3]) + \(x)) * \(shape[1])"
    }

    /// The place in memory of a weight, for the tap at (r, s).
    private static func weight(
        _ call: ConvolutionCall, _ output: String, _ input: String
    ) -> String {
        "((\(output)) * \(call.w[2] * call.w[3]) + r * \(call.w[3]) + s) * \(call.w[1]) + \(input)"
    }
}

/// Neighboring channels of a pixel that one thread computes: four, or one.
private struct ChannelGroup {
    /// The result.
    private let image: Buffer
    private let count: Int

    /// - Parameter images: the result, and others of whose channels a thread reads as many at once.
    init(_ images: [Buffer]) {
        image = images[0]
        let areGroups = images.allSatisfy {
            $0.shape[1].isMultiple(of: 4) && $0.offset.isMultiple(of: 4)
        }
        count = areGroups ? 4 : 1
    }

    /// A statement for each channel c + l.
    func each(_ statement: String) -> String {
        "RT_UNROLL for (int l = 0; l < \(count); l++) \(statement)"
    }

    /// Reads the elements from a pointer on.
    func load(_ pointer: String, to name: String) -> String {
        count == 1
            ? "const float \(name)[1] = {*(\(pointer))};\n"
            : "float \(name)[4]; RT_LOAD(\(name), \(pointer));\n"
    }

    /// - Parameters:
    ///   - parameters: the image is the last.
    ///   - body: adds to `sum` what belongs to the channels from c on at pixel (y, x) of image n.
    func kernel(_ name: String, _ parameters: [Buffer], _ body: String) -> DeviceKernel {
        let shape = image.shape
        let groups: Shape = [shape[0], shape[1] / count, shape[2], shape[3]]
        let target = "p\(parameters.count - 1) + \(count) * i"
        return DeviceKernel(
            name, parameters, .elements(groups.count),
            """
            RT_EACH(\(DeviceKernel.indexType(parameters)), i, \(groups.count)) {
            \(indented(ImageSource.coordinates(groups, channel: "group"), 4))
                const int c = \(count) * group;
                rt_sum sum[\(count)];
                \(each("sum[l] = 0.0f;"))
            \(indented(body, 4))
                \(count == 1 ? "*(\(target)) = sum[0];" : "RT_STORE(\(target), sum);")
            }
            """)
    }
}

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
        let group = ChannelGroup([y])
        let terms = """
            for (int k = 0; k < \(call.w[1]); k++) {
                const float element = p0[\(ImageSource.pixel(call.x, "h", "w")) + k];
                \(group.each("sum[l] += element * p1[\(weight(call, "c + l", "d", "e", "k"))];"))
            }
            """
        return group.kernel(
            "conv2d", [x, w, y], call.windowSource.eachElement("y", "x", terms))
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
        let group = ChannelGroup(call.isDepthwise ? [x, y] : [x])
        let place = ImageSource.pixel(call.y, "oy", "ox")
        let terms =
            call.isDepthwise
            ? group.load("p0 + \(place) + c", to: "elements")
                + group.each(
                    "sum[l] += elements[l] * p1[\(weight(call, "c + l", "a", "b", "0"))];")
            : """
            for (int k = 0; k < \(call.w[0]); k++) {
                const float element = p0[\(place) + k];
                \(group.each("sum[l] += element * p1[\(weight(call, "k", "a", "b", "c + l"))];"))
            }
            """
        return group.kernel("conv_transpose2d", [y, w, x], call.windowSource.eachWindow(terms))
    }

    /// The place in memory of a weight.
    private static func weight(
        _ call: ConvolutionCall, _ output: String, _ row: String, _ column: String,
        _ input: String
    ) -> String {
        let (rows, columns) = (call.w[2], call.w[3])
        return "((\(output)) * \(rows * columns) + \(row) * \(columns) + \(column)) * "
            + "\(call.w[1]) + \(input)"
    }
}

extension ConvolutionCall {
    fileprivate var windowSource: WindowSource {
        WindowSource(kernel: Pair(w[2], w[3]), window: window, image: x, pooled: y)
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

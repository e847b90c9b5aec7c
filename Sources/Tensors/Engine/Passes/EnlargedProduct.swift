import CRetintKernels
import RetintGraph

/// A pointwise convolution of several concatenated images, one of which was upsampled.
///
/// Interpolation and a pointwise convolution may be exchanged, because both are linear and one
/// mixes pixels, the other channels. The product of the small image has fewer pixels; it is
/// upsampled while it is added to that of the others, and the images need not be concatenated in
/// memory.
struct EnlargedProduct {
    private let task: ConvolutionTask
    private let weight: Tensor
    private let upsample: UpsampleBilinear
    private let small: Tensor
    /// The channels of the upsampled image among all channels.
    private let channels: Range<Int>
    private let others: [(image: Tensor, channels: Range<Int>)]

    /// - Returns: nil if there is no such image, or nothing to gain.
    init?(_ task: ConvolutionTask, _ inputs: [Tensor]) {
        guard task.kind == .convolution, task.kernel == Pair(1), task.window.stride == 1,
            task.window.padding == Padding(0),
            let parts = Self.parts(inputs[0]),
            let found = parts.firstIndex(where: { Self.enlargement($0.image) != nil }),
            parts.count > 1, let (upsample, small) = Self.enlargement(parts[found].image),
            parts[found].channels.count >= Self.fewestChannels,
            Self.addsWhileUpsampling(task) || task.output[1] <= parts[found].channels.count
        else { return nil }
        (self.task, weight, self.upsample, self.small) = (task, inputs[1], upsample, small)
        channels = parts[found].channels
        others = parts.enumerated().filter { $0.offset != found }.map(\.element)
    }

    /// Whether the product of the small image can be upsampled while it is added.
    private static func addsWhileUpsampling(_ task: ConvolutionTask) -> Bool {
        task.output[1].isMultiple(of: Int(RT_HALF))
    }

    /// Fewer channels cost no more than their interpolation.
    private static let fewestChannels = 16

    private static func parts(_ x: Tensor) -> [(image: Tensor, channels: Range<Int>)]? {
        let node = x.graph.nodes[x.id]
        guard let concat = node.operation as? Concat, concat.axis == 1 else { return nil }
        var start = 0
        return node.inputs.map { id in
            let image = Tensor(graph: x.graph, id: id)
            defer { start += image.shape[1] }
            return (image, start..<start + image.shape[1])
        }
    }

    private static func enlargement(_ image: Tensor) -> (UpsampleBilinear, Tensor)? {
        let node = image.graph.nodes[image.id]
        return (node.operation as? UpsampleBilinear).map {
            ($0, Tensor(graph: image.graph, id: node.inputs[0]))
        }
    }

    /// - Parameters:
    ///   - formats: returns the operands' formats for a number of input channels.
    ///   - convolved: returns the pointwise convolution of an image with weights.
    func applied(
        to graph: Graph, formats: (_ depth: Int) -> OperandFormats,
        convolved: (_ x: Tensor, _ weight: Tensor) -> Tensor
    ) -> Tensor {
        func product(_ x: Tensor, _ weight: Tensor, adding start: Tensor?) -> Tensor {
            let (size, formats) = (x.shape, formats(x.shape[1]))
            let panels = PanelWeights(order: RT_OUTPUTS_FIRST, format: formats.stored)
            let operation = PanelConvolution(
                window: task.window, kernel: task.kernel,
                shape: [size[0], task.output[1], size[2], size[3]], weights: panels,
                isPacked: true, products: formats.products,
                upsample: start == nil ? nil : upsample)
            let inputs = [x, graph.apply(panels, [weight])]
            return graph.apply(operation, inputs + (start.map { [$0] } ?? []))
        }
        func joined(_ values: [Tensor]) -> Tensor {
            values.count == 1 ? values[0] : concat(values, axis: 1)
        }
        let first = weight.sliced(axis: 1, channels)
        let (image, rest) = (
            joined(others.map(\.image)), joined(others.map { weight.sliced(axis: 1, $0.channels) })
        )
        guard Self.addsWhileUpsampling(task) else {
            return convolved(image, rest) + convolved(small, first).applying(upsample)
        }
        return product(image, rest, adding: product(small, first, adding: nil))
    }
}

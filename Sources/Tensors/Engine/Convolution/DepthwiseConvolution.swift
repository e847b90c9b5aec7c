import CRetintKernels
import RetintCompiler
import RetintGraph
import RetintTensors

/// Weights laid out for ``DepthwiseConvolution``: slices of channels, each with all elements of
/// their kernels.
struct DepthwiseWeights: KernelOperation {
    static let name = "depthwise_weights"
    /// Channels of a slice; nil for one slice of all.
    let slice: Int?
    /// Whether the kernels are rotated by 180°.
    let isRotated: Bool

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        let (weight, channels) = (inputs[0], inputs[0][0])
        return [slices(channels) * width(channels) * weight[2] * weight[3]]
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let (weight, channels) = (inputs[0], inputs[0].shape[0])
        let (taps, width) = (weight.count / channels, width(channels))
        return LoopKernel(name: name, work: output.count, count: slices(channels)) { range in
            rt_depthwise_weights(
                output.pointer, weight.pointer, Int32(channels), Int32(taps), Int32(width),
                isRotated ? 1 : 0, range.lowerBound, range.upperBound)
        }
    }

    private func width(_ channels: Int) -> Int { slice ?? channels }
    private func slices(_ channels: Int) -> Int { (channels - 1) / width(channels) + 1 }
}

/// Depthwise convolution, which has a kernel for each channel, or two, or the transpose of one with
/// one kernel. Inputs: x and ``DepthwiseWeights``.
struct DepthwiseConvolution: EpilogueOperation {
    static let name = "conv2d_depthwise"
    let window: Window
    let kernel: Pair
    let shape: Shape
    let isTransposed: Bool

    /// - Returns: nil if `operation` is not a depthwise convolution.
    init?(_ operation: any Operation, _ inputs: [Shape]) {
        guard inputs.count == 2, let output = try? operation.outputShape(for: inputs) else {
            return nil
        }
        let groups: Int
        switch operation {
        case let convolution as Convolution:
            (window, groups, isTransposed) = (convolution.window, convolution.groups, false)
        case let transpose as ConvolutionTranspose:
            (window, groups, isTransposed) = (transpose.window, transpose.groups, true)
        default: return nil
        }
        let isDoubled =
            !isTransposed && output[1] == 2 * groups && output[1] >= Int(RT_SLICE)
        guard groups > 1, groups == inputs[0][1], groups == output[1] || isDoubled else {
            return nil
        }
        (kernel, shape) = (Pair(inputs[1][2], inputs[1][3]), output)
    }

    /// How the weights must be laid out.
    var weights: DepthwiseWeights {
        DepthwiseWeights(slice: scatters ? nil : Int(RT_SLICE), isRotated: isRotated)
    }

    /// Whether a transposed convolution is a convolution with a rotated kernel.
    private var isRotated: Bool {
        let padding = window.rotated(kernel).padding
        return isTransposed && window.stride == 1 && padding.top >= 0 && padding.left >= 0
    }

    /// Whether inputs are scattered to outputs.
    fileprivate var scatters: Bool { isTransposed && !isRotated }

    /// The geometry of the convolution that is computed or, if inputs are scattered, of the one
    /// whose transpose this is: its input is our output.
    fileprivate func geometry(x: Shape) -> rt_conv {
        convolutionGeometry(
            x: scatters ? shape : x, y: scatters ? x : shape, kernel: kernel,
            window: isRotated ? window.rotated(kernel) : window, groups: x[1])
    }

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...2)
        return shape
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        DepthwiseKernel(self, x: inputs[0], weights: inputs[1], output: output)
    }
}

private final class DepthwiseKernel: RowKernel {
    private let operation: DepthwiseConvolution
    private let weights: Buffer
    private static let nearFloats = 1 << 13

    init(_ operation: DepthwiseConvolution, x: Buffer, weights: Buffer, output: Buffer) {
        (self.operation, self.weights) = (operation, weights)
        let geometry = operation.geometry(x: x.shape)
        super.init(
            name: operation.isTransposed ? "conv_transpose2d_depthwise" : operation.name,
            work: max(x.count, output.count) * geometry.taps, geometry: geometry, x: x,
            output: output)
    }

    /// The kernel is applied once for each output of a convolution, and for each input of a
    /// transposed one.
    override var multiplyAdds: Int {
        (operation.isTransposed ? x.count : output.count) * geometry.taps
    }

    override var appliesTail: Bool { !operation.scatters }
    override var chains: Bool { !operation.scatters }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let addresses = Addresses(x: UnsafePointer(x.pointer), y: output.pointer)
        let own = part.range(rowCount)
        // A few rows at a time, so that they are in the cache for the epilogue.
        let step = max(Self.nearFloats / rowFloats, 1)
        for row in stride(from: own.lowerBound, to: own.upperBound, by: step) {
            let end = min(row + step, own.upperBound)
            compute(row..<end, at: addresses, part: part, workspace)
            finish((row * rowFloats)..<(end * rowFloats), thread: part.index)
        }
    }

    override func compute(
        _ rows: Range<Int>, at addresses: Addresses, part: Part,
        _ workspace: UnsafeMutablePointer<Float>
    ) {
        guard !operation.scatters else {
            var geometry = geometry
            return rt_depthwise_input(
                addresses.y, addresses.x, weights.pointer, &geometry, rows.lowerBound,
                rows.upperBound)
        }
        apply(rows, 0..<slices, at: addresses)
    }

    private var slices: Int { (output.shape[1] - 1) / Int(RT_SLICE) + 1 }

    override var keepsChannels: Bool { geometry.channels == geometry.out_channels }

    /// The last slice would have channels of the one before if it were not whole.
    override var channelUnit: Int? {
        chains && output.shape[1].isMultiple(of: Int(RT_SLICE)) ? Int(RT_SLICE) : nil
    }

    override func compute(
        channels: Range<Int>, part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) {
        let slice = Int(RT_SLICE)
        apply(
            0..<rowCount, channels.lowerBound / slice..<channels.upperBound / slice,
            at: Addresses(x: UnsafePointer(x.pointer), y: output.pointer))
    }

    private func apply(_ rows: Range<Int>, _ slices: Range<Int>, at addresses: Addresses) {
        var geometry = geometry
        withTail {
            rt_depthwise(
                addresses.y, addresses.x, weights.pointer, &geometry, rows.lowerBound,
                rows.upperBound, slices.lowerBound, slices.upperBound, $0)
        }
    }
}

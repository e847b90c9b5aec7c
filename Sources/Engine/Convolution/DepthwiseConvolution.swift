import CKernels
import TensorGraph

/// Depthwise convolution, which has a kernel for each channel, and its transpose.
final class DepthwiseKernel: RowKernel {
    private let weight: Buffer
    /// Whether inputs are scattered to outputs: a transposed convolution that is not, at stride 1,
    /// a convolution with a rotated kernel.
    private let scatters: Bool
    private let rotatesKernel: Bool
    /// How often the kernel is applied.
    private let applications: Int
    private static let nearFloats = 1 << 13

    /// - Parameter geometry: of the convolution; for a transposed one, of that whose transpose it
    ///   is: its input is our output.
    init(
        name: String, geometry: rt_conv, x: Buffer, weight: Buffer, output: Buffer,
        isTransposed: Bool = false
    ) {
        self.weight = weight
        let equivalent = isTransposed ? geometry.equivalentConvolution : nil
        rotatesKernel = equivalent != nil
        scatters = isTransposed && equivalent == nil
        // Once for each output of a convolution, and for each input of a transposed one.
        applications = isTransposed ? x.count : output.count
        super.init(
            name: name, work: max(x.count, output.count) * geometry.taps,
            geometry: equivalent ?? geometry, x: x, output: output)
    }

    override var multiplyAdds: Int { applications * geometry.taps }
    override func ownWorkspaceCount(threads: Int) -> Int { threads * weight.count }
    override var appliesTail: Bool { !scatters }
    override var chains: Bool { !scatters }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        prepare(part: part, workspace)
        let addresses = Addresses(x: UnsafePointer(x.pointer), y: output.pointer)
        let line = output.shape[3] * output.shape[1]
        let own = part.range(output.shape[0] * output.shape[2])
        // A few rows at a time, so that the epilogue finds them in the cache.
        let step = max(Self.nearFloats / line, 1)
        for row in stride(from: own.lowerBound, to: own.upperBound, by: step) {
            let end = min(row + step, own.upperBound)
            compute(row..<end, at: addresses, part: part, workspace)
            finish((row * line)..<(end * line), thread: part.index)
        }
    }

    override func prepare(part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        rt_depthwise_weights(
            weights(part, workspace), weight.pointer, geometry.channels, Int32(geometry.taps),
            rotatesKernel ? 1 : 0)
    }

    override func compute(
        _ rows: Range<Int>, at addresses: Addresses, part: Part,
        _ workspace: UnsafeMutablePointer<Float>
    ) {
        var geometry = geometry
        let (weights, end) = (weights(part, workspace), rows.upperBound)
        guard !scatters else {
            return rt_depthwise_input(
                addresses.y, addresses.x, weights, &geometry, rows.lowerBound, end)
        }
        withTail {
            rt_depthwise(addresses.y, addresses.x, weights, &geometry, rows.lowerBound, end, $0)
        }
    }

    /// Each thread has its own copy of the laid-out weights.
    private func weights(
        _ part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) -> UnsafeMutablePointer<Float> {
        workspace + part.index * weight.count
    }
}

extension rt_conv {
    /// The convolution, with its kernel rotated by 180°, that equals the transpose of this one; nil
    /// if there is none.
    fileprivate var equivalentConvolution: rt_conv? {
        var rotated = self
        rotated.pad_top = dilation_height * (kernel_height - 1) - pad_top
        rotated.pad_left = dilation_width * (kernel_width - 1) - pad_left
        guard stride_height == 1, stride_width == 1, rotated.pad_top >= 0, rotated.pad_left >= 0
        else { return nil }
        (rotated.height, rotated.width) = (out_height, out_width)
        (rotated.out_height, rotated.out_width) = (height, width)
        return rotated
    }
}

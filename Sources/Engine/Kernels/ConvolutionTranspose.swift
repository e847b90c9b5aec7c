import CKernels
import TensorGraph

/// Transposed convolution as the transpose of patches times weights: each input pixel's product
/// with the weights is a patch, and patches are added up where they overlap.
final class ScatterConvolutionKernel: FusingKernel {
    private let x: Buffer
    private let weight: Buffer
    private let output: Buffer
    /// Of the convolution whose transpose this is: its input is our output.
    private var geometry: rt_conv

    private let images: Int
    private let pixels: Int
    private let inputs: Int
    private let channels: Int
    private let patch: Int
    private let groups: Int

    init(name: String, geometry: rt_conv, x: Buffer, weight: Buffer, output: Buffer) {
        self.geometry = geometry
        self.x = x
        self.weight = weight
        self.output = output
        images = x.shape[0]
        pixels = x.shape[2] * x.shape[3]
        inputs = x.shape[1]
        channels = output.shape[1]
        groups = Int(geometry.groups)
        patch = channels * Int(geometry.kernel_height * geometry.kernel_width)
        super.init(name: name, work: x.count * patch / groups)
    }

    override var multiplyAdds: Int { x.count * patch / groups }

    private var threads = 1
    /// With enough images each thread takes whole ones; otherwise all threads share each image.
    private func takesImages(_ threads: Int) -> Bool { images >= threads }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        super.bind(threads: threads, workspace: workspace)
        self.threads = threads
    }

    override func ownWorkspaceCount(threads: Int) -> Int {
        (takesImages(threads) ? threads : 1) * pixels * patch
    }

    override var phases: Int { takesImages(threads) ? 1 : 2 * images }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let height = output.shape[2]
        if takesImages(threads) {
            let patches = workspace + part.index * pixels * patch
            for image in part.range(images) {
                multiply(image, 0..<pixels, patches)
                gather(image, 0..<height, patches, thread: part.index)
            }
        } else if phase % 2 == 0 {
            multiply(phase / 2, part.range(pixels, unit: 8), workspace)
        } else {
            gather(phase / 2, part.range(height), workspace, thread: part.index)
        }
    }

    private func multiply(
        _ image: Int, _ range: Range<Int>, _ patches: UnsafeMutablePointer<Float>
    ) {
        let a = x.pointer + (image * pixels + range.lowerBound) * inputs
        let c = patches + range.lowerBound * patch
        guard groups > 1 else {
            return sgemm(
                false, false, m: range.count, n: patch, k: inputs, a: a, lda: inputs,
                b: weight.pointer, ldb: patch, beta: 0, c: c, ldc: patch)
        }
        let (depth, width) = (inputs / groups, channels / groups)
        let taps = patch / channels
        for group in 0..<groups {
            for tap in 0..<taps {
                sgemm(
                    false, false, m: range.count, n: width, k: depth, a: a + group * depth,
                    lda: inputs, b: weight.pointer + (group * depth * taps + tap) * width,
                    ldb: taps * width, beta: 0, c: c + tap * channels + group * width, ldc: patch)
            }
        }
    }

    private func gather(
        _ image: Int, _ range: Range<Int>, _ patches: UnsafePointer<Float>, thread: Int
    ) {
        let line = output.shape[3] * channels
        let start = image * output.shape[2] * line
        rt_col2im(
            output.pointer + start, patches, &geometry, range.lowerBound, range.upperBound)
        finish(
            (start + range.lowerBound * line)..<(start + range.upperBound * line), thread: thread)
    }
}

extension ConvolutionTranspose: Executable, DecomposableOperation, EpilogueHost {
    func decomposed(_ inputs: [Tensor]) -> Tensor {
        let product = inputs[0].graph.apply(self, Array(inputs.prefix(2)))
        return inputs.count == 3 ? product + perChannel(inputs[2], like: product) : product
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let (x, weight) = (inputs[0], inputs[1])
        let kernel = Pair(weight.shape[2], weight.shape[3])
        let geometry = convolutionGeometry(
            x: output.shape, y: x.shape, kernel: kernel, window: window, groups: groups)
        if geometry.isDepthwise {
            return DepthwiseKernel(
                name: "conv_transpose2d_depthwise", geometry: geometry, x: x, weight: weight,
                output: output, isTransposed: true)
        }
        if let equivalent = undilatedEquivalent(kernel, x.shape, output.shape) {
            return PatchConvolutionKernel(
                name: name, geometry: equivalent, x: x, weight: weight, output: output,
                flips: true)
        }
        return ScatterConvolutionKernel(
            name: name, geometry: geometry, x: x, weight: weight, output: output)
    }

    /// At stride 1 a transposed convolution is a convolution with the kernel turned round.
    private func undilatedEquivalent(_ kernel: Pair, _ x: Shape, _ y: Shape) -> rt_conv? {
        let turned = window.turned(kernel)
        guard window.stride == 1, groups == 1, turned.padding.top >= 0, turned.padding.left >= 0
        else { return nil }
        return convolutionGeometry(x: x, y: y, kernel: kernel, window: turned, groups: 1)
    }
}

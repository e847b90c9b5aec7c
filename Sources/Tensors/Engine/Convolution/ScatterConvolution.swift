import CRetintKernels
import RetintCompiler
import RetintGraph

/// Transposed convolution by scattering (col2im): each input pixel's product with the weights is a
/// patch, and patches are summed where they overlap.
final class ScatterConvolutionKernel: FusingKernel {
    private let x: Buffer
    private let weight: Buffer
    private let output: Buffer
    /// The geometry of the convolution whose transpose this is: its input is our output.
    private let geometry: rt_conv

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
    /// With enough images, each thread computes whole ones; otherwise all threads share each image.
    private func splitsImages(_ threads: Int) -> Bool { images >= threads }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        super.bind(threads: threads, workspace: workspace)
        self.threads = threads
    }

    override func ownWorkspaceCount(threads: Int) -> Int {
        (splitsImages(threads) ? threads : 1) * pixels * patch
    }

    override var phases: Int { splitsImages(threads) ? 1 : 2 * images }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let height = output.shape[2]
        if splitsImages(threads) {
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
                MatrixFactor(a, stride: inputs), MatrixFactor(weight.pointer, stride: patch),
                ProductSize(rows: range.count, columns: patch, depth: inputs),
                to: MatrixProduct(c, stride: patch))
        }
        let (depth, width) = (inputs / groups, channels / groups)
        let taps = patch / channels
        for group in 0..<groups {
            for tap in 0..<taps {
                sgemm(
                    MatrixFactor(a + group * depth, stride: inputs),
                    MatrixFactor(
                        weight.pointer + (group * depth * taps + tap) * width,
                        stride: taps * width),
                    ProductSize(rows: range.count, columns: width, depth: depth),
                    to: MatrixProduct(c + tap * channels + group * width, stride: patch))
            }
        }
    }

    private func gather(
        _ image: Int, _ range: Range<Int>, _ patches: UnsafePointer<Float>, thread: Int
    ) {
        let line = output.shape[3] * channels
        let start = image * output.shape[2] * line
        var geometry = geometry
        rt_col2im(
            output.pointer + start, patches, &geometry, range.lowerBound, range.upperBound)
        finish(
            (start + range.lowerBound * line)..<(start + range.upperBound * line), thread: thread)
    }
}

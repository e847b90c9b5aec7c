import CRetintKernels
import RetintCompiler
import RetintGraph

/// Weight gradients of any convolution: dW = dYᵀ · patches.
final class PatchWeightGradientKernel: Kernel {
    private static let tileFloats = 1 << 19

    private let x, dy, output: Buffer
    private let geometry: rt_conv
    private let rows, outputs, groups, depth, patch: Int

    init(name: String, geometry: rt_conv, x: Buffer, dy: Buffer, output: Buffer) {
        (self.geometry, self.x, self.dy, self.output) = (geometry, x, dy, output)
        outputs = dy.shape[1]
        rows = dy.count / outputs
        groups = Int(geometry.groups)
        depth = x.shape[1] / groups
        patch = depth * geometry.taps
        super.init(name: name, work: output.count * rows)
    }

    override var multiplyAdds: Int { output.count * rows }

    private var tile: Int { min(max(Self.tileFloats / patch, 256), rows) }

    override func workspaceCount(threads: Int) -> Int {
        (threads - 1) * output.count + threads * tile * patch
    }

    override var phases: Int { 2 }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        guard phase == 0 else { return addPartials(workspace, to: output, part) }
        let partials = (part.of - 1) * output.count
        let own =
            part.index == 0 ? output.pointer : workspace + (part.index - 1) * output.count
        own.update(repeating: 0, count: output.count)
        let range = part.range(rows)
        for start in stride(from: range.lowerBound, to: range.upperBound, by: tile) {
            for group in 0..<groups {
                accumulate(
                    start..<min(start + tile, range.upperBound), group,
                    workspace + partials + part.index * tile * patch, own)
            }
        }
    }

    private func accumulate(
        _ range: Range<Int>, _ group: Int, _ patches: UnsafeMutablePointer<Float>,
        _ target: UnsafeMutablePointer<Float>
    ) {
        let width = outputs / groups
        var geometry = geometry
        rt_im2col(
            patches, patch, x.pointer, &geometry, Int32(group * depth), Int32(depth),
            range.lowerBound, range.upperBound)
        sgemm(
            MatrixFactor(
                dy.pointer + range.lowerBound * outputs + group * width, stride: outputs,
                isTransposed: true),
            MatrixFactor(patches, stride: patch),
            ProductSize(rows: width, columns: patch, depth: range.count),
            to: MatrixProduct(target + group * width * patch, stride: patch, isAdded: true))
    }
}

import CRetintKernels
import RetintGraph

/// A reshape between physical orders: first to row-major order in the workspace, then to the
/// result's order.
final class ReshapeKernel: Kernel {
    private let input: Buffer
    private let output: Buffer
    private let toRowMajor: rt_view
    private let fromRowMajor: rt_view

    init(input: Buffer, output: Buffer) {
        self.input = input
        self.output = output
        toRowMajor = View(shape: input.shape, steps: input.shape.strides).cView
        fromRowMajor = View(shape: output.shape, steps: output.shape.strides).cView
        super.init(name: Reshape.name, work: input.count)
    }

    override func workspaceCount(threads: Int) -> Int { input.count }
    override var phases: Int { 2 }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let range = part.range(input.count)
        if phase == 0 {
            var view = toRowMajor
            rt_scatter(workspace, input.pointer, &view, range.lowerBound, range.count)
        } else {
            var view = fromRowMajor
            let target = output.pointer + range.lowerBound
            rt_gather(target, workspace, &view, range.lowerBound, range.count)
        }
    }
}

extension Reshape: KernelOperation, MovingOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        ReshapeKernel(input: inputs[0], output: output)
    }
}

import CKernels
import TensorGraph

/// Writes each input to its places in the output, over a constant background where they leave gaps.
final class ScatterKernel: Kernel {
    struct Source {
        let input: Buffer
        /// Where the input's elements go, in the input's physical order.
        let view: View
    }

    private let sources: [(source: Source, view: rt_view)]
    private let output: Buffer
    private let background: Float?

    init(name: String, sources: [Source], output: Buffer, background: Float?) {
        self.sources = sources.map { ($0, $0.view.cView) }
        self.output = output
        self.background = background
        super.init(name: name, work: output.count)
    }

    override var phases: Int { background == nil ? 1 : 2 }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        if phase == 0, let background {
            let range = part.range(output.count, unit: 16)
            return rt_fill(output.pointer + range.lowerBound, background, range.count)
        }
        for (source, view) in sources {
            let range = part.range(source.input.count, unit: source.view.axes.last?.extent ?? 1)
            var view = view
            rt_scatter(
                output.pointer + source.view.offset, source.input.pointer, &view, range.lowerBound,
                range.count)
        }
    }
}

extension Concat: Executable {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let strides = Layout.strides(output.shape)
        let place = axis < 0 ? axis + output.shape.rank : axis
        var start = 0
        let sources = inputs.map { input in
            let view = View(shape: input.shape, steps: strides, offset: start * strides[place])
            start += input.shape[place]
            return ScatterKernel.Source(input: input, view: view)
        }
        return ScatterKernel(name: name, sources: sources, output: output, background: nil)
    }
}

extension Pad: Executable {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let strides = Layout.strides(output.shape)
        let offset = zip(before, strides).map(*).reduce(0, +)
        let view = View(shape: inputs[0].shape, steps: strides, offset: offset)
        return ScatterKernel(
            name: name, sources: [.init(input: inputs[0], view: view)], output: output,
            background: value)
    }
}

extension SliceScatter: Executable {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let strides = Layout.strides(output.shape)
        let offset = zip(slice.begin, strides).map(*).reduce(0, +)
        let view = View(
            shape: inputs[0].shape, steps: zip(slice.stride, strides).map(*), offset: offset)
        return ScatterKernel(
            name: name, sources: [.init(input: inputs[0], view: view)], output: output,
            background: 0)
    }
}

/// A reshape between physical orders: to row-major order in the workspace, and from there on.
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

extension Reshape: Executable {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        ReshapeKernel(input: inputs[0], output: output)
    }
}

/// Copies one buffer to another.
final class CopyKernel: Kernel {
    private let source: Buffer
    private let target: Buffer

    init(source: Buffer, target: Buffer) {
        self.source = source
        self.target = target
        super.init(name: "copy", work: source.count)
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let range = part.range(source.count)
        (target.pointer + range.lowerBound).update(
            from: source.pointer + range.lowerBound, count: range.count)
    }
}

import CRetintKernels
import RetintCompiler
import RetintGraph

/// Writes each input to a view of the output, over a constant background where the inputs leave
/// gaps.
final class ScatterKernel: Kernel {
    struct Source {
        let input: Buffer
        /// The elements of the output that the input's become, in the input's physical order.
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

import CRetintKernels
import RetintCompiler
import RetintGraph

/// Weight gradients of convolutions without groups whose input channels fill vectors: products of
/// rows of dy and of the image, without patches.
///
/// Small gradients: each thread sums over some of the rows, and the partial sums are added in
/// order. Large gradients: each thread computes some of the input channels, and nothing is added.
final class PanelWeightGradientKernel: Kernel {
    /// For gradients with more floats, the threads share the channels.
    private static let largestPartial = 1 << 18
    /// Pixels whose panel of x stays in the cache while it is multiplied by all channels of dy.
    private static let nearPixels = 128

    private let x, dy, output: Buffer
    private let geometry: rt_conv
    private let rows, outputs, inputs: Int

    init(name: String, geometry: rt_conv, x: Buffer, dy: Buffer, output: Buffer) {
        (self.geometry, self.x, self.dy, self.output) = (geometry, x, dy, output)
        (outputs, inputs) = (dy.shape[1], x.shape[1])
        rows = dy.shape[0] * dy.shape[2]
        super.init(name: name, work: output.count * rows * dy.shape[3])
    }

    override var multiplyAdds: Int { output.count * rows * dy.shape[3] }

    private var panels: Int { (inputs + panelWidth - 1) / panelWidth }
    private var sharesChannels: Bool { output.count > Self.largestPartial }
    private var block: Int { max(Self.nearPixels / dy.shape[3], 1) }

    override func workspaceCount(threads: Int) -> Int {
        sharesChannels ? 0 : (threads - 1) * output.count
    }

    override var phases: Int { 2 }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        if sharesChannels {
            guard phase == 0 else {
                return accumulate(part.range(panels), 0..<rows, output.pointer)
            }
            let own = part.range(output.count)
            (output.pointer + own.lowerBound).update(repeating: 0, count: own.count)
        } else if phase == 0 {
            let own =
                part.index == 0
                ? output.pointer : workspace + (part.index - 1) * output.count
            own.update(repeating: 0, count: output.count)
            accumulate(0..<panels, part.range(rows), own)
        } else {
            addPartials(workspace, to: output, part)
        }
    }

    private func accumulate(
        _ panels: Range<Int>, _ rows: Range<Int>, _ target: UnsafeMutablePointer<Float>
    ) {
        var geometry = geometry
        for row in stride(from: rows.lowerBound, to: rows.upperBound, by: block) {
            for panel in panels {
                let channel = panel * panelWidth
                rt_panel_weight_gradient(
                    target, x.pointer, dy.pointer, &geometry, Int32(channel),
                    Int32(min(panelWidth, inputs - channel)), row, min(row + block, rows.upperBound)
                )
            }
        }
    }
}

/// Adds the partial sums of all threads except the first, which are stored one after another, to
/// `output`, which has those of the first.
func addPartials(
    _ partials: UnsafePointer<Float>, to output: Buffer, _ part: Part
) {
    let range = part.range(output.count, unit: 16)
    let target = output.pointer + range.lowerBound
    for thread in 1..<max(part.of, 1) where !range.isEmpty {
        let source = partials + (thread - 1) * output.count + range.lowerBound
        rt_map_add(0, 0, target, target, source, source, range.count)
    }
}

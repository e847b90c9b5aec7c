import CKernels
import TensorGraph

/// Weight gradients of convolutions without groups, whose input channels fill vectors: products of
/// stretches of dy and of the picture, without patches.
///
/// Small gradients: each thread takes some of the rows, and their sums are added up in order.
/// Large gradients: each thread takes some of the input channels and no addition is needed.
private final class PanelWeightGradientKernel: Kernel {
    /// Gradients of more floats than this are shared by channels.
    private static let largestPartial = 1 << 18
    /// Pixels whose panel of x stays near the core while all of dy's channels meet it.
    private static let nearPixels = 128

    private let x, dy, output: Buffer
    private var geometry: rt_conv
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

/// Adds the sums of all threads but the first, which stand one after another, to the first's.
private func addPartials(
    _ partials: UnsafePointer<Float>, to output: Buffer, _ part: Part
) {
    let range = part.range(output.count, unit: 16)
    let target = output.pointer + range.lowerBound
    for thread in 1..<max(part.of, 1) where !range.isEmpty {
        let source = partials + (thread - 1) * output.count + range.lowerBound
        rt_elementwise(RT_ADD, 0, 0, target, target, source, source, range.count)
    }
}

/// Other weight gradients: dW = dYᵀ · patches.
private final class PatchWeightGradientKernel: Kernel {
    private static let tileFloats = 1 << 19

    private let x, dy, output: Buffer
    private var geometry: rt_conv
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
        rt_im2col(
            patches, patch, x.pointer, &geometry, Int32(group * depth), Int32(depth),
            range.lowerBound, range.upperBound)
        sgemm(
            true, false, m: width, n: patch, k: range.count,
            a: dy.pointer + range.lowerBound * outputs + group * width, lda: outputs, b: patches,
            ldb: patch, beta: 1, c: target + group * width * patch, ldc: patch)
    }
}

extension ConvolutionWeightGradient: Executable {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let geometry = convolutionGeometry(
            x: inputs[0].shape, y: inputs[1].shape, kernel: kernel, window: window, groups: groups)
        if geometry.isDepthwise {
            return DepthwiseWeightKernel(
                name: "conv2d_weight_depthwise", geometry: geometry, x: inputs[0], dy: inputs[1],
                output: output)
        }
        if groups == 1, inputs[0].shape[1].isMultiple(of: 16), geometry.taps <= RT_MOST_TAPS {
            return PanelWeightGradientKernel(
                name: name, geometry: geometry, x: inputs[0], dy: inputs[1], output: output)
        }
        return PatchWeightGradientKernel(
            name: name, geometry: geometry, x: inputs[0], dy: inputs[1], output: output)
    }
}

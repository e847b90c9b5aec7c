import CKernels
import TensorGraph

/// dW = dYᵀ · patches.
///
/// Small gradients: each thread takes some of the pixels, and their sums are added up in order.
/// Large gradients: each thread takes some of the input channels and no addition is needed.
final class WeightGradientKernel: Kernel {
    /// Gradients of more floats than this are shared by channels.
    private static let largestPartial = 1 << 18
    private static let tileFloats = 1 << 19
    /// Rows whose numbers stay near the core while all channels meet.
    private static let nearRows = 128

    private let x: Buffer
    private let dy: Buffer
    private let output: Buffer
    private var geometry: rt_conv

    private let rows: Int
    private let outputs: Int
    private let inputs: Int
    private let groups: Int
    private let taps: Int

    init(name: String, geometry: rt_conv, x: Buffer, dy: Buffer, output: Buffer) {
        self.geometry = geometry
        self.x = x
        self.dy = dy
        self.output = output
        outputs = dy.shape[1]
        inputs = x.shape[1]
        rows = dy.count / outputs
        groups = Int(geometry.groups)
        taps = Int(geometry.kernel_height * geometry.kernel_width)
        super.init(name: name, work: output.count * rows)
    }

    override var multiplyAdds: Int { output.count * rows }

    private var depth: Int { inputs / groups }
    private var patch: Int { depth * taps }

    private var isPointwise: Bool {
        taps == 1 && geometry.stride_height == 1 && geometry.stride_width == 1
            && geometry.pad_top == 0 && geometry.pad_left == 0
            && geometry.out_height == geometry.height && geometry.out_width == geometry.width
    }

    private var sharesChannels: Bool { output.count > Self.largestPartial && groups == 1 }

    private var tile: Int {
        min(max(Self.tileFloats / (sharesChannels ? depth : patch), 256), rows)
    }

    override func workspaceCount(threads: Int) -> Int {
        if sharesChannels { return isPointwise ? 0 : threads * tile * (depth / threads + 16) }
        return threads * (output.count + (isPointwise ? 0 : tile * patch))
    }

    override var phases: Int { sharesChannels ? 1 : 2 }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        if sharesChannels {
            runChannels(part, workspace + part.index * tile * (depth / part.of + 16))
        } else if phase == 0 {
            runPixels(part, workspace)
        } else {
            addPartials(part, workspace)
        }
    }

    private func tiles(_ range: Range<Int>, _ body: (Range<Int>) -> Void) {
        var start = range.lowerBound
        while start < range.upperBound {
            let end = min(start + tile, range.upperBound)
            body(start..<end)
            start = end
        }
    }

    // MARK: Shared by input channels

    private func runChannels(_ part: Part, _ scratch: UnsafeMutablePointer<Float>) {
        let channels = part.range(depth, unit: 16)
        guard !channels.isEmpty else { return }
        if isPointwise {
            return accumulate(
                0..<rows, x.pointer + channels.lowerBound, inputs, channels, tap: 0, isFirst: true)
        }
        tiles(0..<rows) { range in
            for tap in 0..<taps {
                let (kh, kw) = (tap / Int(geometry.kernel_width), tap % Int(geometry.kernel_width))
                rt_im2col_tap(
                    scratch, channels.count, x.pointer, &geometry, Int32(kh), Int32(kw),
                    Int32(channels.lowerBound), Int32(channels.count), range.lowerBound,
                    range.upperBound)
                accumulate(
                    range, scratch, channels.count, channels, tap: tap,
                    isFirst: range.lowerBound == 0)
            }
        }
    }

    private func accumulate(
        _ range: Range<Int>, _ b: UnsafePointer<Float>, _ ldb: Int, _ channels: Range<Int>,
        tap: Int, isFirst: Bool
    ) {
        sgemm(
            true, false, m: outputs, n: channels.count, k: range.count,
            a: dy.pointer + range.lowerBound * outputs, lda: outputs, b: b, ldb: ldb,
            beta: isFirst ? 0 : 1, c: output.pointer + tap * depth + channels.lowerBound,
            ldc: patch)
    }

    // MARK: Shared by pixels

    private func runPixels(_ part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let partial = workspace + part.index * output.count
        let scratch = workspace + part.of * output.count + part.index * tile * patch
        partial.update(repeating: 0, count: output.count)
        tiles(part.range(rows)) { range in
            for group in 0..<groups { runTile(range, group, scratch, partial) }
        }
    }

    private func runTile(
        _ range: Range<Int>, _ group: Int, _ scratch: UnsafeMutablePointer<Float>,
        _ partial: UnsafeMutablePointer<Float>
    ) {
        let width = outputs / groups
        if usesPanels { return multiplyPanels(range, partial) }
        var (b, ldb) = (UnsafePointer(scratch), patch)
        if isPointwise {
            b = UnsafePointer(x.pointer) + range.lowerBound * inputs + group * depth
            ldb = inputs
        } else {
            rt_im2col(
                scratch, patch, x.pointer, &geometry, Int32(group * depth), Int32(depth),
                range.lowerBound, range.upperBound)
        }
        sgemm(
            true, false, m: width, n: patch, k: range.count,
            a: dy.pointer + range.lowerBound * outputs + group * width, lda: outputs, b: b,
            ldb: ldb, beta: 1, c: partial + group * width * patch, ldc: patch)
    }

    /// 1×1 with channels that fill vectors needs no patches, and no packing either.
    private var usesPanels: Bool { isPointwise && groups == 1 && inputs.isMultiple(of: 16) }

    private func multiplyPanels(_ range: Range<Int>, _ partial: UnsafeMutablePointer<Float>) {
        for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.nearRows) {
            let count = min(Self.nearRows, range.upperBound - start)
            for channel in stride(from: 0, to: inputs, by: panelWidth) {
                rt_gemm_panel(
                    outputs, count, dy.pointer + start * outputs, 1, outputs,
                    x.pointer + start * inputs + channel, inputs, partial + channel, inputs,
                    Int32(min(panelWidth, inputs - channel)), 1, nil)
            }
        }
    }

    private func addPartials(_ part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let range = part.range(output.count, unit: 16)
        guard !range.isEmpty else { return }
        let target = output.pointer + range.lowerBound
        target.update(from: workspace + range.lowerBound, count: range.count)
        for thread in 1..<max(part.of, 1) {
            let source = workspace + thread * output.count + range.lowerBound
            rt_elementwise(RT_ADD, 0, 0, target, target, source, range.count)
        }
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
        return WeightGradientKernel(
            name: name, geometry: geometry, x: inputs[0], dy: inputs[1], output: output)
    }
}

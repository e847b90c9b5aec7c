import CRetintKernels
import RetintCompiler
import RetintGraph
import RetintTensors

/// Weights laid out for ``PanelConvolution`` and, if they are large, ``WinogradConvolution``:
/// panels of [taps, inputs, RT_PANEL], or a ``HalfPanel`` each.
struct PanelWeights: KernelOperation {
    static let name = "panel_weights"
    let order: rt_weight_order
    let format: rt_format
    /// Whether the weights are those of a transposed convolution.
    var isTransposed: Bool { order != RT_OUTPUTS_FIRST }

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        return [panels(inputs[0]) * panelCount(inputs[0])]
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let (weight, shape) = (inputs[0], inputs[0].shape)
        return LoopKernel(
            name: name, work: weight.count, count: panels(shape),
            scratch: format.isHalf ? rows(shape) * panelWidth : 0
        ) { range, scratch in
            for panel in range {
                pack(panel, of: weight, into: output.pointer, scratch: scratch)
            }
        }
    }

    func inputs(_ weight: Shape) -> Int { isTransposed ? weight[0] : weight[1] }
    func outputs(_ weight: Shape) -> Int { isTransposed ? weight[1] : weight[0] }
    func panels(_ weight: Shape) -> Int { (outputs(weight) + panelWidth - 1) / panelWidth }
    private func rows(_ weight: Shape) -> Int { weight[2] * weight[3] * inputs(weight) }
    /// Floats of one panel.
    private func panelCount(_ weight: Shape) -> Int { panelCount(rows: rows(weight)) }

    /// Floats of one panel with `rows` rows.
    func panelCount(rows: Int) -> Int {
        format.isHalf ? HalfPanel.count(rows * panelWidth) : rows * panelWidth
    }

    /// Lays out one panel; in 16 bits, from its floats in `scratch`.
    func pack(
        _ panel: Int, of weight: Buffer, into target: UnsafeMutablePointer<Float>,
        scratch: UnsafeMutablePointer<Float>
    ) {
        let shape = weight.shape
        let own = target + panel * panelCount(shape)
        rt_pack_panel(
            format.isHalf ? scratch : own, weight.pointer, Int32(shape[2] * shape[3]),
            Int32(inputs(shape)), Int32(outputs(shape)), Int32(panel * panelWidth), order)
        guard format.isHalf else { return }
        HalfPanel(memory: own).fill(
            from: scratch, runs: 1, rows: rows(shape), step: 0, halfStep: 0, format)
    }
}

/// The number of columns of a panel.
let panelWidth = Int(RT_PANEL)

/// A convolution without groups, or a transposed one, as a sum of matrix products, one for each
/// kernel element, directly on the image: no patches are copied. Inputs: x, weights and, with
/// `upsample`, an image that is upsampled and added.
struct PanelConvolution: EpilogueOperation {
    static let name = "conv2d_panels"
    let window: Window
    let kernel: Pair
    let shape: Shape
    let weights: PanelWeights
    /// Whether the weights are already laid out in panels.
    let isPacked: Bool
    /// The format of the products' operands; if not float32, that of the weights.
    var products = RT_FLOAT32
    /// How the added image is upsampled. The convolution is then pointwise, and its channels are
    /// a multiple of RT_HALF.
    var upsample: UpsampleBilinear?

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, upsample == nil ? 2...2 : 3...3)
        return shape
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        kernel(named: name, inputs: inputs, output: output)
    }

    /// - Parameter name: the name in reports.
    func kernel(named name: String, inputs: [Buffer], output: Buffer) -> Kernel {
        let start = upsample.map { BilinearRows($0, x: inputs[2]) }
        return PanelConvolutionKernel(
            self, name: name, x: inputs[0], weight: inputs[1], start: start, output: output)
    }
}

private final class PanelConvolutionKernel: RowKernel {
    private enum Phase {
        case pack, largest, round, start, rows, panels, epilogue
    }

    /// The operand of products: for a pointwise convolution, the first element of the current
    /// range; otherwise the whole input.
    private struct Source {
        let x: UnsafeRawPointer
        var unscale: Float = 1
    }

    /// The state of a thread.
    private struct Scratch {
        let rest, line, unpacked, rounded: UnsafeMutablePointer<Float>
    }

    /// Pixels of a piece.
    private static let fewestPixels = 48

    /// Floats of inputs and outputs that stay in a core's cache while all panels are applied.
    private static let nearFloats = 1 << 16

    private let weight: Buffer
    /// The target of the products.
    private let start: BilinearRows?
    private let operation: PanelConvolution
    private let inputs, outputs, taps: Int
    /// Whether the kernel is 1×1 at every pixel, so that the batch is one long row.
    private let isPointwise: Bool
    /// Pixels or rows of pixels: the units that the threads share.
    private let units, unitPixels: Int
    /// Units whose inputs and outputs stay in a core's cache.
    private let block: Int
    private var plan: [Phase] = []

    init(
        _ operation: PanelConvolution, name: String, x: Buffer, weight: Buffer,
        start: BilinearRows?, output: Buffer
    ) {
        (self.weight, self.start, self.operation) = (weight, start, operation)
        let geometry = convolutionGeometry(
            x: x.shape, y: output.shape, kernel: operation.kernel, window: operation.window,
            groups: 1)
        (inputs, outputs, taps) = (x.shape[1], output.shape[1], geometry.taps)
        let (pixels, window) = (output.count / outputs, operation.window)
        isPointwise =
            taps == 1 && window.stride == 1 && pixels == x.count / inputs
            && window.padding.top == 0 && window.padding.left == 0
        let sharesPixels = isPointwise && start == nil
        units = sharesPixels ? pixels : output.shape[0] * output.shape[2]
        unitPixels = sharesPixels ? 1 : output.shape[3]
        block = max(
            Self.nearFloats / (unitPixels * (inputs + outputs)),
            sharesPixels ? Self.fewestPixels : 1)
        super.init(
            name: name, work: output.count * inputs, geometry: geometry, x: x,
            output: output)
    }

    override var multiplyAdds: Int {
        (operation.weights.isTransposed ? x.count * outputs : output.count * inputs) * taps
    }

    private var panels: Int { (outputs + panelWidth - 1) / panelWidth }
    private var panelRows: Int { taps * inputs }
    private var panelCount: Int { operation.weights.panelCount(rows: panelRows) }
    private var format: rt_format { operation.products }
    /// Whether 16-bit weights are multiplied in float32.
    private var unpacks: Bool { operation.weights.format.isHalf && !format.isHalf }
    /// Whether weights are rounded to 16 bits in each run.
    private var roundsWeights: Bool { operation.weights.format.isHalf && !operation.isPacked }
    /// Whether inputs are rounded as a whole, before they are multiplied.
    private func roundsInputs(_ threads: Int) -> Bool {
        format.isHalf && (!isPointwise || sharesPanels(threads))
    }

    /// Whether the threads share pixels, not rows of pixels.
    private var sharesPixels: Bool { isPointwise && start == nil }

    private var unitElements: Int { unitPixels * outputs }

    private func sharesPanels(_ threads: Int) -> Bool {
        threads > 1 && splitsChannels(threads)
    }

    override func splitsChannels(_ threads: Int) -> Bool {
        units < 2 * threads * block && panels >= threads
    }

    override var channelUnit: Int? { chains && start == nil ? panelWidth : nil }

    /// Floats of weights that are packed in each run.
    private var packedCount: Int { operation.isPacked ? 0 : panels * panelCount }

    /// Floats that the threads share: weights that are packed in each run, then rounded inputs.
    private func sharedCount(_ threads: Int) -> Int {
        guard roundsInputs(threads) else { return packedCount }
        return packedCount + HalfInputs.largestCount(threads: threads) + (x.count + 1) / 2
    }

    private func halfInputs(_ workspace: UnsafeMutablePointer<Float>) -> HalfInputs {
        HalfInputs(
            x: x, format: format, exponent: HalfPanel.exponent, memory: workspace + packedCount)
    }

    private func roundedInputs(
        _ part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) -> UnsafeMutablePointer<rt_half> {
        (workspace + packedCount + HalfInputs.largestCount(threads: part.of)).halves
    }

    /// The smallest number of channels that a product writes.
    private static let halfPanel = Int(RT_HALF)

    private var lineCount: Int { start?.lineCount ?? 0 }

    /// Floats of a block's last panel, if its channels do not fill a half.
    private var restCount: Int {
        let last = outputs - (panels - 1) * panelWidth
        return last >= Self.halfPanel
            ? 0 : min(block, units) * unitPixels * panelWidth
    }

    private var unpackedCount: Int { unpacks || roundsWeights ? panelRows * panelWidth : 0 }

    /// Floats of a block's inputs in 16 bits.
    private var roundedCount: Int {
        format.isHalf && isPointwise ? (min(block, units) * unitPixels * inputs + 1) / 2 : 0
    }

    private var ownCount: Int { restCount + lineCount + unpackedCount + roundedCount }

    override func ownWorkspaceCount(threads: Int) -> Int {
        sharedCount(threads) + threads * ownCount
    }

    private func scratch(_ part: Part, _ workspace: UnsafeMutablePointer<Float>) -> Scratch {
        let rest = workspace + sharedCount(part.of) + part.index * ownCount
        let line = rest + restCount
        let unpacked = line + lineCount
        return Scratch(
            rest: rest, line: line, unpacked: unpacked, rounded: unpacked + unpackedCount)
    }

    override var appliesTail: Bool { true }

    override var chains: Bool {
        operation.isPacked && !operation.weights.isTransposed && (!format.isHalf || isPointwise)
    }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        super.bind(threads: threads, workspace: workspace)
        plan = operation.isPacked ? [] : [.pack]
        if roundsInputs(threads) {
            plan += HalfInputs.needsLargest(format) ? [.largest, .round] : [.round]
        }
        guard sharesPanels(threads) else { return plan.append(.rows) }
        if start != nil { plan.append(.start) }
        plan += hasEpilogue ? [.panels, .epilogue] : [.panels]
    }

    override var phases: Int { plan.count }

    override func pieces(of phase: Int, threads: Int) -> Int {
        switch plan[phase] {
        case .pack, .largest, .round, .start, .epilogue: 1
        case .rows:
            pieces(output.count / outputs, fewest: Self.fewestPixels, threads: threads)
        case .panels: pieces(panels * panelPieces(threads), fewest: 1, threads: threads)
        }
    }

    /// The pieces of each panel's pixels where the threads share the panels: two if they would
    /// otherwise get unequal numbers of few panels.
    private func panelPieces(_ threads: Int) -> Int {
        let isUneven = !panels.isMultiple(of: threads) && panels < 4 * threads
        return isUneven && output.count / outputs >= Self.fewestPixels / 2 ? 2 : 1
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let weights = operation.isPacked ? weight.pointer : workspace
        let scratch = scratch(part, workspace)
        let addresses = Addresses(x: UnsafePointer(x.pointer), y: output.pointer)
        switch plan[phase] {
        case .pack:
            for panel in part.range(panels) {
                operation.weights.pack(
                    panel, of: weight, into: workspace, scratch: scratch.unpacked)
            }
        case .largest: halfInputs(workspace).findLargest(part)
        case .round: halfInputs(workspace).round(part, into: roundedInputs(part, workspace))
        case .start: start?.compute(part.range(units), into: addresses.y, line: scratch.line)
        case .rows:
            blocks(part.range(units)) { range in
                start?.compute(range, into: addresses.y, line: scratch.line)
                let source =
                    roundsInputs(part.of)
                    ? rounded(range, part, workspace) : source(range, addresses.x, scratch)
                for panel in 0..<panels {
                    multiply(range, panel, source, addresses.y, weights, scratch)
                }
                finish(range, part)
            }
        case .panels:
            let pieces = panelPieces(part.of)
            for item in part.range(panels * pieces) {
                let (panel, piece) = item.quotientAndRemainder(dividingBy: pieces)
                blocks(units * piece / pieces..<units * (piece + 1) / pieces) {
                    let source =
                        roundsInputs(part.of)
                        ? rounded($0, part, workspace) : source($0, addresses.x, scratch)
                    multiply($0, panel, source, addresses.y, weights, scratch)
                }
            }
        case .epilogue: finish(part.range(units), part)
        }
    }

    override func compute(
        _ rows: Range<Int>, at addresses: Addresses, part: Part,
        _ workspace: UnsafeMutablePointer<Float>
    ) {
        let unitsOfRow = sharesPixels ? Int(geometry.out_width) : 1
        let scratch = scratch(part, workspace)
        blocks(rows.lowerBound * unitsOfRow..<rows.upperBound * unitsOfRow) { range in
            start?.compute(range, into: addresses.y, line: scratch.line)
            let source = source(range, addresses.x, scratch)
            for panel in 0..<panels {
                multiply(range, panel, source, addresses.y, weight.pointer, scratch)
            }
        }
    }

    override func compute(
        channels: Range<Int>, part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) {
        let scratch = scratch(part, workspace)
        blocks(0..<units) { range in
            let source = source(range, UnsafePointer(x.pointer), scratch)
            for channel in stride(
                from: channels.lowerBound, to: channels.upperBound, by: panelWidth)
            {
                multiply(
                    range, channel / panelWidth, source, output.pointer, weight.pointer, scratch)
            }
        }
    }

    private func blocks(_ range: Range<Int>, _ body: (Range<Int>) -> Void) {
        for start in stride(from: range.lowerBound, to: range.upperBound, by: block) {
            body(start..<min(start + block, range.upperBound))
        }
    }

    private func finish(_ range: Range<Int>, _ part: Part) {
        finish(
            range.lowerBound * unitElements..<range.upperBound * unitElements, thread: part.index)
    }

    // MARK: Inputs

    /// The inputs of a block: unchanged, or rounded to 16 bits while they are in the cache.
    private func source(
        _ range: Range<Int>, _ x: UnsafePointer<Float>, _ scratch: Scratch
    ) -> Source {
        guard isPointwise else { return Source(x: x) }
        let first = x + range.lowerBound * unitPixels * inputs
        guard format.isHalf else { return Source(x: first) }
        let count = range.count * unitPixels * inputs
        let largest = HalfInputs.needsLargest(format) ? rt_max_abs(first, count) : 1
        let scale = format.scale(of: largest, below: HalfPanel.exponent)
        rt_to_halves(scratch.rounded.halves, first, count, scale, format)
        return Source(x: scratch.rounded, unscale: 1 / scale)
    }

    /// The inputs of a block if they are rounded as a whole.
    private func rounded(
        _ range: Range<Int>, _ part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) -> Source {
        let first = isPointwise ? range.lowerBound * unitPixels * inputs : 0
        return Source(
            x: roundedInputs(part, workspace) + first,
            unscale: 1 / halfInputs(workspace).scale(part))
    }

    // MARK: Products

    private func multiply(
        _ range: Range<Int>, _ panel: Int, _ source: Source, _ y: UnsafeMutablePointer<Float>,
        _ weights: UnsafeMutablePointer<Float>, _ scratch: Scratch
    ) {
        let channel = panel * panelWidth
        let width = min(outputs - channel, panelWidth)
        let b = weights + panel * panelCount
        if unpacks {
            HalfPanel(memory: b).unpack(
                panelRows, into: scratch.unpacked, operation.weights.format)
        }
        let target = y + range.lowerBound * unitElements + channel
        guard width < Self.halfPanel else {
            return withTail(channel) {
                multiply(range, unpacks ? scratch.unpacked : b, source, target, outputs, width, $0)
            }
        }
        // It would overwrite the next pixel.
        withPaddedTail(channel, width) {
            multiply(
                range, unpacks ? scratch.unpacked : b, source, scratch.rest, panelWidth,
                Self.halfPanel, $0)
        }
        for pixel in 0..<range.count * unitPixels {
            (target + pixel * outputs).update(
                from: scratch.rest + pixel * panelWidth, count: width)
        }
    }

    /// One panel's product for `range`; `target` is its first element, with `step` floats from
    /// pixel to pixel.
    private func multiply(
        _ range: Range<Int>, _ panel: UnsafeMutablePointer<Float>, _ source: Source,
        _ target: UnsafeMutablePointer<Float>, _ step: Int, _ width: Int,
        _ tail: UnsafePointer<rt_tail>?
    ) {
        let half = HalfPanel(memory: panel)
        let halves = rt_halves(
            format: format, unscale: format.isHalf ? half.unscale * source.unscale : 1)
        let b = format.isHalf ? UnsafeRawPointer(half.values) : UnsafeRawPointer(panel)
        let adds: Int32 = start == nil ? 0 : 1
        guard isPointwise else {
            var geometry = geometry
            return rt_panel_convolution(
                target, step, source.x, b, &geometry, operation.weights.isTransposed ? 1 : 0,
                Int32(width), range.lowerBound, range.upperBound, halves, tail)
        }
        if format.isHalf {
            rt_gemm_halves(
                range.count * unitPixels, inputs, source.x.assumingMemoryBound(to: rt_half.self),
                inputs, half.values, target, step, Int32(width), adds, halves, tail)
        } else {
            rt_gemm_panel(
                range.count * unitPixels, inputs, source.x.assumingMemoryBound(to: Float.self),
                inputs, 1, panel, panelWidth, target, step, Int32(width), adds, tail)
        }
    }
}

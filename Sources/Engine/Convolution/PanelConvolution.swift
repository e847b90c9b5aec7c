import CKernels
import TensorGraph

/// Weights laid out for ``PanelConvolution`` and, where they are large, ``WinogradConvolution``:
/// panels of [taps, inputs, RT_PANEL].
struct PanelWeights: KernelOperation {
    static let name = "panel_weights"
    let order: rt_weight_order
    /// Whether the weights are those of a transposed convolution.
    var isTransposed: Bool { order != RT_OUTPUTS_FIRST }

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        return [panels(inputs[0]) * panelCount(inputs[0])]
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let (weight, panels) = (inputs[0], panels(inputs[0].shape))
        return LoopKernel(name: name, work: output.count, count: panels) { range in
            for panel in range { pack(panel, of: weight, into: output.pointer) }
        }
    }

    func inputs(_ weight: Shape) -> Int { isTransposed ? weight[0] : weight[1] }
    func outputs(_ weight: Shape) -> Int { isTransposed ? weight[1] : weight[0] }
    func panels(_ weight: Shape) -> Int { (outputs(weight) + panelWidth - 1) / panelWidth }
    /// Floats of one panel.
    func panelCount(_ weight: Shape) -> Int {
        weight[2] * weight[3] * inputs(weight) * panelWidth
    }

    func pack(_ panel: Int, of weight: Buffer, into target: UnsafeMutablePointer<Float>) {
        let shape = weight.shape
        rt_pack_panel(
            target + panel * panelCount(shape), weight.pointer, Int32(shape[2] * shape[3]),
            Int32(inputs(shape)), Int32(outputs(shape)), Int32(panel * panelWidth), order)
    }
}

/// The number of columns of a panel.
let panelWidth = Int(RT_PANEL)

/// A convolution without groups, or a transposed one, as a sum of matrix products, one for each
/// kernel element, directly on the image: no patches are copied. Inputs: x, weights and, with
/// `upsample`, an image that is enlarged and added.
struct PanelConvolution: EpilogueOperation {
    static let name = "conv2d_panels"
    let window: Window
    let kernel: Pair
    let shape: Shape
    let weights: PanelWeights
    /// Whether the weights are laid out in panels already.
    let isPacked: Bool
    /// How what is added is enlarged. The convolution is a pointwise one then, and its channels are
    /// a multiple of RT_HALF.
    var upsample: UpsampleBilinear?

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, upsample == nil ? 2...2 : 3...3)
        return shape
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let start = upsample.map { BilinearRows($0, x: inputs[2]) }
        return PanelConvolutionKernel(
            self, x: inputs[0], weight: inputs[1], start: start, output: output)
    }
}

private final class PanelConvolutionKernel: RowKernel {
    private enum Phase {
        case pack, start, rows, panels, epilogue
    }

    /// Pixels of a piece.
    private static let fewestPixels = 48

    /// Floats of inputs and outputs that stay in a core's cache while all panels are applied.
    private static let nearFloats = 1 << 16

    private let weight: Buffer
    /// What the products are added to.
    private let start: BilinearRows?
    private let operation: PanelConvolution
    private let inputs, outputs, taps: Int
    private var plan: [Phase] = []

    init(
        _ operation: PanelConvolution, x: Buffer, weight: Buffer, start: BilinearRows?,
        output: Buffer
    ) {
        (self.weight, self.start, self.operation) = (weight, start, operation)
        let geometry = convolutionGeometry(
            x: x.shape, y: output.shape, kernel: operation.kernel, window: operation.window,
            groups: 1)
        (inputs, outputs, taps) = (x.shape[1], output.shape[1], geometry.taps)
        super.init(
            name: operation.name, work: output.count * inputs, geometry: geometry, x: x,
            output: output)
    }

    override var multiplyAdds: Int {
        (operation.weights.isTransposed ? x.count * outputs : output.count * inputs) * taps
    }

    private var panels: Int { (outputs + panelWidth - 1) / panelWidth }
    private var panelCount: Int { taps * inputs * panelWidth }

    /// Whether the kernel is 1×1 at every pixel, so that the batch is one long row.
    private var isPointwise: Bool {
        taps == 1 && operation.window.stride == 1 && output.count / outputs == x.count / inputs
            && operation.window.padding.top == 0 && operation.window.padding.left == 0
    }

    /// Whether the threads share pixels, not rows of pixels.
    private var sharesPixels: Bool { isPointwise && start == nil }

    private var units: Int {
        sharesPixels ? output.count / outputs : output.shape[0] * output.shape[2]
    }

    private var unitPixels: Int { sharesPixels ? 1 : output.shape[3] }
    private var unitElements: Int { unitPixels * outputs }

    private var block: Int {
        let count = Self.nearFloats / (unitPixels * (inputs + outputs))
        return max(count, sharesPixels ? Self.fewestPixels : 1)
    }

    private func sharesPanels(_ threads: Int) -> Bool {
        threads > 1 && splitsChannels(threads)
    }

    override func splitsChannels(_ threads: Int) -> Bool {
        units < 2 * threads * block && panels >= threads
    }

    override var channelUnit: Int? { chains && start == nil ? panelWidth : nil }

    /// Floats of weights that are packed in each run.
    private var packedCount: Int { operation.isPacked ? 0 : panels * panelCount }

    /// Channels that a product writes at least.
    private static let halfPanel = Int(RT_HALF)

    private var lineCount: Int { start?.lineCount ?? 0 }

    /// Floats of a block's last panel, if its channels do not fill a half.
    private var restCount: Int {
        let last = outputs - (panels - 1) * panelWidth
        return last >= Self.halfPanel
            ? 0 : min(block, units) * unitPixels * panelWidth
    }

    override func ownWorkspaceCount(threads: Int) -> Int {
        packedCount + threads * (restCount + lineCount)
    }

    override var appliesTail: Bool { true }

    override var chains: Bool { operation.isPacked && !operation.weights.isTransposed }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        super.bind(threads: threads, workspace: workspace)
        plan = operation.isPacked ? [] : [.pack]
        guard sharesPanels(threads) else { return plan.append(.rows) }
        if start != nil { plan.append(.start) }
        plan += hasEpilogue ? [.panels, .epilogue] : [.panels]
    }

    override var phases: Int { plan.count }

    override func pieces(of phase: Int, threads: Int) -> Int {
        switch plan[phase] {
        case .pack, .start, .epilogue: 1
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
        let weights = UnsafePointer(operation.isPacked ? weight.pointer : workspace)
        let rest = rest(part, workspace)
        let line = rest + restCount
        let addresses = Addresses(x: UnsafePointer(x.pointer), y: output.pointer)
        switch plan[phase] {
        case .pack:
            for panel in part.range(panels) {
                operation.weights.pack(panel, of: weight, into: workspace)
            }
        case .start: start?.compute(part.range(units), into: addresses.y, line: line)
        case .rows:
            blocks(part.range(units)) { range in
                start?.compute(range, into: addresses.y, line: line)
                for panel in 0..<panels { multiply(range, panel, addresses, weights, rest) }
                finish(range, part)
            }
        case .panels:
            let pieces = panelPieces(part.of)
            for item in part.range(panels * pieces) {
                let (panel, piece) = item.quotientAndRemainder(dividingBy: pieces)
                blocks(units * piece / pieces..<units * (piece + 1) / pieces) {
                    multiply($0, panel, addresses, weights, rest)
                }
            }
        case .epilogue: finish(part.range(units), part)
        }
    }

    override func compute(
        _ rows: Range<Int>, at addresses: Addresses, part: Part,
        _ workspace: UnsafeMutablePointer<Float>
    ) {
        let unitsOfRow = sharesPixels ? output.shape[3] : 1
        let rest = rest(part, workspace)
        blocks(rows.lowerBound * unitsOfRow..<rows.upperBound * unitsOfRow) { range in
            start?.compute(range, into: addresses.y, line: rest + restCount)
            for panel in 0..<panels {
                multiply(range, panel, addresses, weight.pointer, rest)
            }
        }
    }

    override func compute(
        channels: Range<Int>, part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) {
        let addresses = Addresses(x: UnsafePointer(x.pointer), y: output.pointer)
        let rest = rest(part, workspace)
        for channel in stride(from: channels.lowerBound, to: channels.upperBound, by: panelWidth) {
            blocks(0..<units) {
                multiply($0, channel / panelWidth, addresses, weight.pointer, rest)
            }
        }
    }

    private func rest(
        _ part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) -> UnsafeMutablePointer<Float> {
        workspace + packedCount + part.index * (restCount + lineCount)
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

    private func multiply(
        _ range: Range<Int>, _ panel: Int, _ addresses: Addresses, _ weights: UnsafePointer<Float>,
        _ rest: UnsafeMutablePointer<Float>
    ) {
        let channel = panel * panelWidth
        let width = min(outputs - channel, panelWidth)
        let b = weights + panel * panelCount
        guard width < Self.halfPanel else {
            let target = addresses.y + range.lowerBound * unitElements
            return withTail(channel) {
                multiply(range, b, addresses.x, target + channel, outputs, width, $0)
            }
        }
        // It would overwrite the next pixel.
        withPaddedTail(channel, width) {
            multiply(range, b, addresses.x, rest, panelWidth, Self.halfPanel, $0)
        }
        let pixels = range.count * unitPixels
        let first = addresses.y + range.lowerBound * unitElements + channel
        for pixel in 0..<pixels {
            (first + pixel * outputs).update(from: rest + pixel * panelWidth, count: width)
        }
    }

    /// One panel's product for `range`; `target` is its first element, with `step` floats from
    /// pixel to pixel.
    private func multiply(
        _ range: Range<Int>, _ b: UnsafePointer<Float>, _ x: UnsafePointer<Float>,
        _ target: UnsafeMutablePointer<Float>, _ step: Int, _ width: Int,
        _ tail: UnsafePointer<rt_tail>?
    ) {
        if isPointwise {
            rt_gemm_panel(
                range.count * unitPixels, inputs, x + range.lowerBound * unitPixels * inputs,
                inputs, 1, b, panelWidth, target, step, Int32(width), start == nil ? 0 : 1, tail)
        } else {
            var geometry = geometry
            rt_panel_convolution(
                target, step, x, b, &geometry,
                operation.weights.isTransposed ? 1 : 0, Int32(width), range.lowerBound,
                range.upperBound, tail)
        }
    }
}

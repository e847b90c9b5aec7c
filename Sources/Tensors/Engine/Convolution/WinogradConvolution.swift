import CRetintKernels
import RetintCompiler
import RetintGraph
import RetintTensors

/// A convolution or a transposed one by Winograd's algorithm (Lavin and Gray, "Fast Algorithms for
/// Convolutional Neural Networks", 2016). Inputs: x, and weights in the representation `weights`.
struct WinogradConvolution: EpilogueOperation {
    static let name = "conv2d_winograd"
    let tiling: WinogradTiling
    let shape: Shape
    let weights: WinogradTiling.WeightForm
    var formats = OperandFormats.float32

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...2)
        return shape
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        WinogradConvolutionKernel(self, x: inputs[0], weight: inputs[1], output: output)
    }
}

/// Transforms inputs, multiplies at each position, transforms the products back.
///
/// Small weights: each thread computes some groups of tiles from beginning to end. Large weights:
/// the threads share the transformed inputs of many tiles, and each transforms its share of the
/// weights once for all of those, some inputs at a time, so that they are multiplied while they are
/// in its cache.
private final class WinogradConvolutionKernel: FusingKernel {
    private enum Phase {
        case largest
        case weights
        case tiles
        case inputs(Range<Int>)
        case panels(Range<Int>)
        case epilogue(Range<Int>)
    }

    /// Floats of transformed inputs that stay in the cache of one core, and in those of all.
    private static let ownInputs = 1 << 17
    private static let sharedInputs = 3 << 19
    private static let fewestTiles = 16
    /// Tiles whose products stay in a core's cache until they are transformed back.
    private static let productTiles = 96
    /// Inputs whose transformed weights stay in a core's cache, for one panel.
    private static let nearInputs = 128

    private let x, weight, output: Buffer
    private let form: WinogradTiling.WeightForm
    private let formats: OperandFormats
    private let tiling: WinogradTiling
    private let tiles: WinogradTiles
    private let geometry: rt_winograd
    private var plan: [Phase] = []

    init(_ operation: WinogradConvolution, x: Buffer, weight: Buffer, output: Buffer) {
        (self.x, self.weight, self.output) = (x, weight, output)
        (tiling, form, formats) = (operation.tiling, operation.weights, operation.formats)
        tiles = WinogradTiles(tiling, formats.products)
        geometry = tiles.geometry
        super.init(name: operation.name, work: tiling.multiplyAdds)
    }

    override var multiplyAdds: Int { tiling.multiplyAdds }
    override var appliesTail: Bool { true }

    private func sharesTiles(_ threads: Int) -> Bool {
        tiling.hasSmallWeights && tiles.groups >= 2 * threads
    }

    // MARK: Workspace

    private var ownTiles: Int {
        max(Self.ownInputs / (tiling.positions * tiles.stride), Self.fewestTiles)
    }

    /// Groups whose inputs the threads transform together before they multiply.
    private var sharedGroups: Int {
        let count = max(
            Self.sharedInputs / (tiling.positions * tiles.stride), 2 * Self.fewestTiles)
        return min(max(count / tiles.perGroup, 1), tiles.groups)
    }

    /// Inputs that are multiplied at a time: all if their transformed weights exist, or are
    /// needed for several pieces of the tiles.
    private var blockInputs: Int {
        let isOnePiece = sharedGroups * tiles.perGroup <= Self.productTiles
        return isOnePiece && form != .transformed
            ? min(Self.nearInputs, tiling.depth) : tiling.depth
    }

    /// Floats of the transformed weights of a block of inputs, for one panel.
    private var blockCount: Int {
        tiling.positions * tiling.weightStride(blockInputs, format) * format.size
            / MemoryLayout<Float>.size
    }

    private var format: rt_format { formats.products }

    /// Whether a panel of weights is laid out in float32 before it is transformed.
    private var unpacks: Bool {
        form == .plain || form == .packed && formats.stored.isHalf && !format.isHalf
    }

    /// Whether weights are rounded to 16 bits in each run.
    private var roundsWeights: Bool { form == .plain && format.isHalf }

    /// Floats of each thread's own workspace.
    private func ownCount(_ threads: Int) -> Int {
        let packed = unpacks ? tiling.packedCount : 0
        if sharesTiles(threads) {
            let transformed = roundsWeights ? tiling.panelCount(RT_FLOAT32) : 0
            return max(
                tiles.inputCount(ownTiles) + tiles.productCount(ownTiles), packed + transformed)
        }
        let transformed = form == .transformed ? 0 : blockCount
        let rounded = roundsWeights ? HalfPanel.count(tiling.packedCount) : 0
        return tiles.productCount(Self.productTiles) + transformed + packed + rounded
    }

    /// Floats shared by the threads: largest inputs, and transformed weights or inputs.
    private func sharedCount(_ threads: Int) -> Int {
        let largest = largestCount(threads)
        guard sharesTiles(threads) else {
            return largest + tiles.inputCount(sharedGroups * tiles.perGroup)
        }
        return form == .transformed
            ? largest : largest + tiling.panels * tiling.panelCount(format)
    }

    private func largestCount(_ threads: Int) -> Int {
        HalfInputs.needsLargest(format) ? HalfInputs.largestCount(threads: threads) : 0
    }

    /// Transforms of values below a half are below 2^4.
    private func halfInputs(_ workspace: UnsafeMutablePointer<Float>) -> HalfInputs {
        HalfInputs(x: x, format: format, exponent: -1, memory: workspace)
    }

    override func ownWorkspaceCount(threads: Int) -> Int {
        sharedCount(threads) + threads * ownCount(threads)
    }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        super.bind(threads: threads, workspace: workspace)
        plan = HalfInputs.needsLargest(format) ? [.largest] : []
        guard !sharesTiles(threads) else {
            plan += form == .transformed ? [.tiles] : [.weights, .tiles]
            return
        }
        plan += tiles.chunks(of: sharedGroups).flatMap { range -> [Phase] in
            return [.inputs(range), .panels(range)] + (hasEpilogue ? [.epilogue(range)] : [])
        }
    }

    override var phases: Int { plan.count }

    override func pieces(of phase: Int, threads: Int) -> Int {
        switch plan[phase] {
        case .largest, .weights, .epilogue: 1
        case .tiles:
            pieces(tiles.groups * tiles.perGroup, fewest: Self.fewestTiles, threads: threads)
        case .inputs(let range):
            pieces(range.count * tiles.perGroup, fewest: Self.fewestTiles, threads: threads)
        case .panels: pieces(tiling.panels, fewest: 1, threads: threads)
        }
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let own = workspace + sharedCount(part.of) + part.index * ownCount(part.of)
        let shared = workspace + largestCount(part.of)
        let inputs = halfInputs(workspace)
        switch plan[phase] {
        case .largest: inputs.findLargest(part)
        case .weights: transformWeights(part, shared, scratch: own)
        case .tiles: runTiles(part, shared, own, scale: inputs.scale(part))
        case .inputs(let range):
            let own = part.range(range.count * tiles.perGroup)
            tiles.transformInputs(
                x, range.lowerBound, own, into: tiles.tile(own.lowerBound, of: shared),
                tiles.inputStride(sharedGroups * tiles.perGroup), scale: inputs.scale(part))
        case .panels(let range):
            runPanels(part, range, shared, own, scale: inputs.scale(part))
        case .epilogue(let range):
            let elements = tiling.elements(of: range, geometry)
            let own = part.range(elements.count, unit: tiling.outputs)
            finish(
                elements.lowerBound + own.lowerBound..<elements.lowerBound + own.upperBound,
                thread: part.index)
        }
    }

    // MARK: Phases

    /// Transforms weights that change from run to run.
    private func transformWeights(
        _ part: Part, _ target: UnsafeMutablePointer<Float>, scratch: UnsafeMutablePointer<Float>
    ) {
        for panel in part.range(tiling.panels) {
            let own = target + panel * tiling.panelCount(format)
            let transformed = roundsWeights ? scratch + tiling.packedCount : own
            tiling.transform(
                packed(panel, scratch), panel, 0..<tiling.depth, into: transformed)
            if roundsWeights { tiling.round(transformed, into: own, format) }
        }
    }

    /// Where a panel's packed weights are.
    private func stored(_ panel: Int) -> UnsafeMutablePointer<Float> {
        let packed = panel * panelWidth % tiling.outputs / panelWidth
        let count =
            formats.stored.isHalf ? HalfPanel.count(tiling.packedCount) : tiling.packedCount
        return weight.pointer + packed * count
    }

    /// One panel of packed weights in float32, laid out in `scratch` if necessary.
    private func packed(
        _ panel: Int, _ scratch: UnsafeMutablePointer<Float>
    ) -> UnsafePointer<Float> {
        if form == .plain {
            tiling.pack(panel, of: weight, into: scratch)
        } else if unpacks {
            HalfPanel(memory: stored(panel)).unpack(
                tiling.packedRows, into: scratch, formats.stored)
        } else {
            return UnsafePointer(stored(panel))
        }
        return UnsafePointer(scratch)
    }

    private func runTiles(
        _ part: Part, _ shared: UnsafeMutablePointer<Float>, _ own: UnsafeMutablePointer<Float>,
        scale: Float
    ) {
        let weights = form == .transformed ? weight.pointer : shared
        let products = own + tiles.inputCount(ownTiles)
        let mine = part.range(tiles.groups)
        let step = max(ownTiles / tiles.perGroup, 1)
        for group in stride(from: mine.lowerBound, to: mine.upperBound, by: step) {
            let groups = group..<min(group + step, mine.upperBound)
            let count = groups.count * tiles.perGroup
            for tile in stride(from: 0, to: count, by: ownTiles) {
                let range = tile..<min(tile + ownTiles, count)
                tiles.transformInputs(
                    x, group, range, into: own, tiles.inputStride(ownTiles), scale: scale)
                for panel in 0..<tiling.panels {
                    multiply(
                        range.count, 0..<tiling.depth, own, tiles.inputStride(ownTiles),
                        width(panel),
                        transformed(panel, in: weights, scale), products,
                        tiles.productStride(ownTiles))
                    transformBack(group, range, panel, products, tiles.productStride(ownTiles))
                }
            }
            finish(tiling.elements(of: groups, geometry), thread: part.index)
        }
    }

    private func runPanels(
        _ part: Part, _ range: Range<Int>, _ shared: UnsafeMutablePointer<Float>,
        _ products: UnsafeMutablePointer<Float>, scale: Float
    ) {
        let count = range.count * tiles.perGroup
        let pieces = (count + Self.productTiles - 1) / Self.productTiles
        let step = tiles.productStride(Self.productTiles)
        let inputStep = tiles.inputStride(sharedGroups * tiles.perGroup)
        let scratch = products + tiles.productCount(Self.productTiles)
        var present = PresentWeights()
        for item in part.range(tiling.panels * pieces) {
            let (panel, piece) = item.quotientAndRemainder(dividingBy: pieces)
            let own = count * piece / pieces..<count * (piece + 1) / pieces
            for first in stride(from: 0, to: tiling.depth, by: blockInputs) {
                let block = first..<min(first + blockInputs, tiling.depth)
                multiply(
                    own.count, block, tiles.tile(own.lowerBound, of: shared), inputStep,
                    width(panel), weights(panel, block, scratch, &present, scale), products, step)
            }
            transformBack(range.lowerBound, own, panel, products, step)
        }
    }

    /// Transformed weights, and the factor for 16-bit products.
    private struct Weights {
        let address: UnsafeRawPointer
        var unscale: Float = 1
    }

    /// A panel of weights that are kept transformed.
    private func transformed(
        _ panel: Int, in weights: UnsafeMutablePointer<Float>, _ scale: Float
    ) -> Weights {
        let memory = weights + panel * tiling.panelCount(format)
        guard format.isHalf else { return Weights(address: memory) }
        let half = HalfPanel(memory: memory)
        return Weights(address: half.values, unscale: half.unscale / scale)
    }

    /// The contents of a thread's scratch: a block of transformed weights, then their packed panel.
    private struct PresentWeights {
        var panel = -1
        var block = 0..<0
        var packed: UnsafePointer<Float>?
        var unscale: Float = 1
    }

    /// Transforms a block of weights, unless it exists.
    private func weights(
        _ panel: Int, _ block: Range<Int>, _ scratch: UnsafeMutablePointer<Float>,
        _ present: inout PresentWeights, _ scale: Float
    ) -> Weights {
        guard form != .transformed else {
            return transformed(panel, in: weight.pointer, scale)
        }
        if present.panel != panel {
            present = PresentWeights(panel: panel)
            if !format.isHalf { present.packed = packed(panel, scratch + blockCount) }
            if roundsWeights { round(panel, scratch + blockCount) }
        }
        if present.block != block {
            present.block = block
            if let packed = present.packed {
                tiling.transform(packed, panel, block, into: scratch)
            } else {
                let rounded =
                    roundsWeights ? scratch + blockCount + tiling.packedCount : stored(panel)
                present.unscale = tiling.transform(
                    HalfPanel(memory: rounded), panel, block,
                    into: scratch.halves,
                    format)
            }
        }
        return Weights(address: scratch, unscale: present.unscale / scale)
    }

    /// Lays out a panel in scratch, and rounds it after that.
    private func round(_ panel: Int, _ scratch: UnsafeMutablePointer<Float>) {
        HalfPanel(memory: scratch + tiling.packedCount).fill(
            from: packed(panel, scratch), runs: 1, rows: tiling.packedRows, step: 0, halfStep: 0,
            format)
    }

    /// Adds the products of a range of inputs to those of the previous inputs.
    ///
    /// - Parameter inputs: the transformed inputs of the first of `count` tiles.
    private func multiply(
        _ count: Int, _ block: Range<Int>, _ inputs: UnsafeRawPointer, _ inputStep: Int,
        _ width: Int, _ weights: Weights, _ products: UnsafeMutablePointer<Float>,
        _ productStep: Int
    ) {
        let weightStep = tiling.weightStride(block.count, format)
        let adds: Int32 = block.lowerBound > 0 ? 1 : 0
        for position in 0..<tiling.positions {
            let a = inputs + (position * inputStep + block.lowerBound) * format.size
            let b = weights.address + position * weightStep * format.size
            let c = products + position * productStep
            if format.isHalf {
                rt_gemm_halves(
                    count, block.count, a.assumingMemoryBound(to: rt_half.self), tiles.stride,
                    b.assumingMemoryBound(to: rt_half.self), c, panelWidth, Int32(width), adds,
                    rt_halves(format: format, unscale: weights.unscale), nil)
            } else {
                rt_gemm_panel(
                    count, block.count, a.assumingMemoryBound(to: Float.self), tiles.stride, 1,
                    b.assumingMemoryBound(to: Float.self), panelWidth, c, panelWidth,
                    Int32(width), adds, nil)
            }
        }
    }

    private func width(_ panel: Int) -> Int {
        min(tiling.columns - panel * panelWidth, panelWidth)
    }

    private func transformBack(
        _ group: Int, _ range: Range<Int>, _ panel: Int, _ products: UnsafePointer<Float>,
        _ step: Int
    ) {
        var geometry = geometry
        withTail { tail in
            rt_winograd_output(
                output.pointer, products, step, &geometry, group, range.lowerBound,
                range.upperBound, Int32(panel * panelWidth), Int32(width(panel)), tail)
        }
    }
}

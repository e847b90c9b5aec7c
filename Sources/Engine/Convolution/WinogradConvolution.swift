import CKernels
import TensorGraph

/// A convolution or a transposed one in Winograd's form (Lavin and Gray, "Fast Algorithms for
/// Convolutional Neural Networks", 2016). Inputs: x, and weights in the form `weights`.
struct WinogradConvolution: EpilogueOperation {
    static let name = "conv2d_winograd"
    let tiling: WinogradTiling
    let shape: Shape
    let weights: WinogradTiling.WeightForm

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
    private let tiling: WinogradTiling
    private let tiles: WinogradTiles
    private let geometry: rt_winograd
    private var plan: [Phase] = []

    init(_ operation: WinogradConvolution, x: Buffer, weight: Buffer, output: Buffer) {
        (self.x, self.weight, self.output) = (x, weight, output)
        (tiling, form) = (operation.tiling, operation.weights)
        tiles = WinogradTiles(tiling)
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

    /// Inputs that are multiplied at a time: all if their transformed weights are there, or are
    /// wanted for several pieces of the tiles.
    private var blockInputs: Int {
        let isOnePiece = sharedGroups * tiles.perGroup <= Self.productTiles
        return isOnePiece && form != .transformed
            ? min(Self.nearInputs, tiling.depth) : tiling.depth
    }

    /// Floats of the transformed weights of a block of inputs, for one panel.
    private var blockCount: Int { tiling.positions * tiling.weightStride(blockInputs) }

    /// Floats of each thread's own workspace.
    private func ownCount(_ threads: Int) -> Int {
        let packed = form == .plain ? tiling.packedCount : 0
        if sharesTiles(threads) {
            return max(tiles.inputCount(ownTiles) + tiles.productCount(ownTiles), packed)
        }
        let transformed = form == .transformed ? 0 : blockCount
        return tiles.productCount(Self.productTiles) + transformed + packed
    }

    /// Floats of what the threads share: transformed weights or transformed inputs.
    private func sharedCount(_ threads: Int) -> Int {
        guard sharesTiles(threads) else { return tiles.inputCount(sharedGroups * tiles.perGroup) }
        return form == .transformed ? 0 : tiling.panels * tiling.panelCount
    }

    override func ownWorkspaceCount(threads: Int) -> Int {
        sharedCount(threads) + threads * ownCount(threads)
    }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        super.bind(threads: threads, workspace: workspace)
        guard !sharesTiles(threads) else {
            plan = form == .transformed ? [.tiles] : [.weights, .tiles]
            return
        }
        plan = tiles.chunks(of: sharedGroups).flatMap { range -> [Phase] in
            return [.inputs(range), .panels(range)] + (hasEpilogue ? [.epilogue(range)] : [])
        }
    }

    override var phases: Int { plan.count }

    override func pieces(of phase: Int, threads: Int) -> Int {
        switch plan[phase] {
        case .weights, .epilogue: 1
        case .tiles:
            pieces(tiles.groups * tiles.perGroup, fewest: Self.fewestTiles, threads: threads)
        case .inputs(let range):
            pieces(range.count * tiles.perGroup, fewest: Self.fewestTiles, threads: threads)
        case .panels: pieces(tiling.panels, fewest: 1, threads: threads)
        }
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let own = workspace + sharedCount(part.of) + part.index * ownCount(part.of)
        switch plan[phase] {
        case .weights: transformWeights(part, workspace, scratch: own)
        case .tiles: runTiles(part, workspace, own)
        case .inputs(let range):
            tiles.transformInputs(
                x, range.lowerBound, part.range(range.count * tiles.perGroup), into: workspace,
                tiles.inputStride(sharedGroups * tiles.perGroup))
        case .panels(let range): runPanels(part, range, workspace, own)
        case .epilogue(let range):
            let elements = tiling.elements(of: range, geometry)
            let own = part.range(elements.count, unit: tiling.outputs)
            finish(
                elements.lowerBound + own.lowerBound..<elements.lowerBound + own.upperBound,
                thread: part.index)
        }
    }

    // MARK: Phases

    private func transformWeights(
        _ part: Part, _ target: UnsafeMutablePointer<Float>, scratch: UnsafeMutablePointer<Float>
    ) {
        for panel in part.range(tiling.panels) {
            tiling.transform(
                packed(panel, scratch), panel, 0..<tiling.depth,
                into: target + panel * tiling.panelCount)
        }
    }

    /// One panel of packed weights, laid out in `scratch` if need be.
    private func packed(
        _ panel: Int, _ scratch: UnsafeMutablePointer<Float>
    ) -> UnsafePointer<Float> {
        guard form == .plain else {
            let packed = panel * panelWidth % tiling.outputs / panelWidth
            return UnsafePointer(weight.pointer + packed * tiling.packedCount)
        }
        tiling.pack(panel, of: weight, into: scratch)
        return UnsafePointer(scratch)
    }

    private func runTiles(
        _ part: Part, _ workspace: UnsafeMutablePointer<Float>, _ own: UnsafeMutablePointer<Float>
    ) {
        let weights =
            form == .transformed ? UnsafePointer(weight.pointer) : UnsafePointer(workspace)
        let products = own + tiles.inputCount(ownTiles)
        let mine = part.range(tiles.groups)
        let step = max(ownTiles / tiles.perGroup, 1)
        for group in stride(from: mine.lowerBound, to: mine.upperBound, by: step) {
            let groups = group..<min(group + step, mine.upperBound)
            let count = groups.count * tiles.perGroup
            for tile in stride(from: 0, to: count, by: ownTiles) {
                let range = tile..<min(tile + ownTiles, count)
                tiles.transformInputs(
                    x, group, range, into: own - tile * tiles.stride, tiles.inputStride(ownTiles))
                for panel in 0..<tiling.panels {
                    multiply(
                        range, panel, 0..<tiling.depth, own, tiles.inputStride(ownTiles),
                        weights + panel * tiling.panelCount, products, tiles.productStride(ownTiles)
                    )
                    transformBack(group, range, panel, products, tiles.productStride(ownTiles))
                }
            }
            finish(tiling.elements(of: groups, geometry), thread: part.index)
        }
    }

    private func runPanels(
        _ part: Part, _ range: Range<Int>, _ shared: UnsafeMutablePointer<Float>,
        _ products: UnsafeMutablePointer<Float>
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
                    own, panel, block, shared + own.lowerBound * tiles.stride, inputStep,
                    weights(panel, block, scratch, &present), products, step)
            }
            transformBack(range.lowerBound, own, panel, products, step)
        }
    }

    /// What is in a thread's scratch: a block of transformed weights, then their panel, packed.
    private struct PresentWeights {
        var panel = -1
        var block = 0..<0
        var packed: UnsafePointer<Float>?
    }

    /// Transforms a block of weights, unless they are there.
    private func weights(
        _ panel: Int, _ block: Range<Int>, _ scratch: UnsafeMutablePointer<Float>,
        _ present: inout PresentWeights
    ) -> UnsafePointer<Float> {
        guard form != .transformed else {
            return UnsafePointer(weight.pointer + panel * tiling.panelCount)
        }
        if present.panel != panel {
            present = PresentWeights(panel: panel, packed: packed(panel, scratch + blockCount))
        }
        if let packed = present.packed, present.block != block {
            tiling.transform(packed, panel, block, into: scratch)
            present.block = block
        }
        return UnsafePointer(scratch)
    }

    /// Adds the products of a range of inputs to those of the inputs before.
    private func multiply(
        _ range: Range<Int>, _ panel: Int, _ block: Range<Int>, _ inputs: UnsafePointer<Float>,
        _ inputStep: Int, _ weights: UnsafePointer<Float>,
        _ products: UnsafeMutablePointer<Float>, _ productStep: Int
    ) {
        for position in 0..<tiling.positions {
            rt_gemm_panel(
                range.count, block.count, inputs + position * inputStep + block.lowerBound,
                tiles.stride, 1, weights + position * tiling.weightStride(block.count), panelWidth,
                products + position * productStep, panelWidth, Int32(width(panel)),
                block.lowerBound > 0 ? 1 : 0, nil)
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

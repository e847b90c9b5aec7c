import CKernels
import TensorGraph

/// A convolution or a transposed one in Winograd's form (Lavin and Gray, "Fast Algorithms for
/// Convolutional Neural Networks", 2016). Inputs: x, and weights, transformed or not.
struct WinogradConvolution: EpilogueOperation {
    static let name = "conv2d_winograd"
    let tiling: WinogradTiling
    let shape: Shape
    /// How the weights are transformed in each run; nil if they are transformed already.
    let weights: WinogradWeights?

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
/// the threads share the transformed inputs of many tiles, and each reads its share of the weights
/// once for all of those.
private final class WinogradConvolutionKernel: FusingKernel {
    private enum Phase {
        case weights
        case tiles
        case inputs(Range<Int>)
        case panels(Range<Int>)
        case epilogue(Range<Int>)
    }

    /// Larger transformed weights, in floats, are read by panels.
    private static let smallWeights = 1 << 20
    /// Floats of transformed inputs that stay in the cache of one core, and in those of all.
    private static let ownInputs = 1 << 17
    private static let sharedInputs = 3 << 19
    private static let fewestTiles = 16
    /// Tiles whose products stay in a core's cache until they are transformed back.
    private static let productTiles = 96

    private let x, weight, output: Buffer
    private let transform: WinogradWeights?
    private let tiling: WinogradTiling
    private let tiles: WinogradTiles
    private let geometry: rt_winograd
    private var plan: [Phase] = []

    init(_ operation: WinogradConvolution, x: Buffer, weight: Buffer, output: Buffer) {
        (self.x, self.weight, self.output) = (x, weight, output)
        (tiling, transform) = (operation.tiling, operation.weights)
        tiles = WinogradTiles(tiling)
        geometry = tiles.geometry
        super.init(name: operation.name, work: tiling.multiplyAdds)
    }

    override var multiplyAdds: Int { tiling.multiplyAdds }
    override var appliesTail: Bool { true }

    private func sharesTiles(_ threads: Int) -> Bool {
        tiling.panels * tiling.panelCount <= Self.smallWeights && tiles.groups >= 2 * threads
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

    /// Floats of each thread's own workspace.
    private func ownCount(_ threads: Int) -> Int {
        if sharesTiles(threads) {
            return max(
                tiles.inputCount(ownTiles) + tiles.productCount(ownTiles),
                transform == nil ? 0 : tiling.scratchCount)
        }
        return tiles.productCount(Self.productTiles)
            + (transform == nil ? 0 : tiling.panelCount + tiling.scratchCount)
    }

    /// Floats of what the threads share: transformed weights or transformed inputs.
    private func sharedCount(_ threads: Int) -> Int {
        guard sharesTiles(threads) else { return tiles.inputCount(sharedGroups * tiles.perGroup) }
        return transform == nil ? 0 : tiling.panels * tiling.panelCount
    }

    override func ownWorkspaceCount(threads: Int) -> Int {
        sharedCount(threads) + threads * ownCount(threads)
    }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        super.bind(threads: threads, workspace: workspace)
        guard !sharesTiles(threads) else {
            plan = transform == nil ? [.tiles] : [.weights, .tiles]
            return
        }
        plan = tiles.chunks(of: sharedGroups).flatMap { range -> [Phase] in
            return [.inputs(range), .panels(range)] + (hasEpilogue ? [.epilogue(range)] : [])
        }
    }

    override var phases: Int { plan.count }

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
            transform?.transform(
                panel: panel, of: weight, into: target + panel * tiling.panelCount,
                scratch: scratch, geometry)
        }
    }

    private func runTiles(
        _ part: Part, _ workspace: UnsafeMutablePointer<Float>, _ own: UnsafeMutablePointer<Float>
    ) {
        let weights = transform == nil ? UnsafePointer(weight.pointer) : UnsafePointer(workspace)
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
                        range, panel, own, tiles.inputStride(ownTiles),
                        weights + panel * tiling.panelCount, products, tiles.productStride(ownTiles)
                    )
                    transformBack(group, range, panel, products, tiles.productStride(ownTiles))
                }
            }
            finish(tiling.elements(of: groups, geometry), thread: part.index)
        }
    }

    private func runPanels(
        _ part: Part, _ range: Range<Int>, _ inputs: UnsafeMutablePointer<Float>,
        _ products: UnsafeMutablePointer<Float>
    ) {
        let count = range.count * tiles.perGroup
        let pieces = (count + Self.productTiles - 1) / Self.productTiles
        let step = tiles.productStride(Self.productTiles)
        let ownWeights = products + tiles.productCount(Self.productTiles)
        var present: Int?
        for item in part.range(tiling.panels * pieces) {
            let (panel, piece) = item.quotientAndRemainder(dividingBy: pieces)
            let own = count * piece / pieces..<count * (piece + 1) / pieces
            if let transform, present != panel {
                transform.transform(
                    panel: panel, of: weight, into: ownWeights,
                    scratch: ownWeights + tiling.panelCount, geometry)
                present = panel
            }
            let weights =
                transform == nil ? weight.pointer + panel * tiling.panelCount : ownWeights
            multiply(
                own, panel, inputs + own.lowerBound * tiles.stride,
                tiles.inputStride(sharedGroups * tiles.perGroup), weights, products, step)
            transformBack(range.lowerBound, own, panel, products, step)
        }
    }

    private func multiply(
        _ range: Range<Int>, _ panel: Int, _ inputs: UnsafePointer<Float>, _ inputStep: Int,
        _ weights: UnsafePointer<Float>, _ products: UnsafeMutablePointer<Float>,
        _ productStep: Int
    ) {
        let depth = tiling.depth * panelWidth
        for position in 0..<tiling.positions {
            rt_gemm_panel(
                range.count, tiling.depth, inputs + position * inputStep, tiles.stride, 1,
                weights + position * depth, panelWidth, products + position * productStep,
                panelWidth, Int32(width(panel)), 0, nil)
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

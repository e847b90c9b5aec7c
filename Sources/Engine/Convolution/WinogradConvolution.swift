import CKernels
import TensorGraph

/// Weights as Winograd's products need them: panels of [positions, inputs, RT_PANEL].
struct WinogradWeights: Operation, Executable {
    static let name = "winograd_weights"
    let tiling: WinogradTiling
    let order: rt_weight_order

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        return [tiling.panels * tiling.panelCount]
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        WinogradWeightsKernel(self, weight: inputs[0], output: output)
    }

    /// Transforms one panel; `scratch` holds ``WinogradTiling/scratchCount`` floats.
    func transform(
        panel: Int, of weight: Buffer, into target: UnsafeMutablePointer<Float>,
        scratch: UnsafeMutablePointer<Float>, _ geometry: inout rt_winograd
    ) {
        rt_winograd_weights(
            target, scratch, weight.pointer, &geometry, Int32(panel * panelWidth),
            order)
    }
}

private final class WinogradWeightsKernel: Kernel {
    private let operation: WinogradWeights
    private let weight: Buffer
    private let output: Buffer

    init(_ operation: WinogradWeights, weight: Buffer, output: Buffer) {
        (self.operation, self.weight, self.output) = (operation, weight, output)
        super.init(name: operation.name, work: output.count)
    }

    override func workspaceCount(threads: Int) -> Int { threads * operation.tiling.scratchCount }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let tiling = operation.tiling
        var geometry = tiling.geometry
        for panel in part.range(tiling.panels) {
            operation.transform(
                panel: panel, of: weight, into: output.pointer + panel * tiling.panelCount,
                scratch: workspace + part.index * tiling.scratchCount, &geometry)
        }
    }
}

/// A convolution or a transposed one in Winograd's form. Inputs: x, and weights, transformed or not.
struct WinogradConvolution: Operation, Executable, EpilogueHost {
    static let name = "conv2d_winograd"
    let tiling: WinogradTiling
    let shape: Shape
    /// How the weights are to be transformed; nil if they are.
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
/// Small weights: each thread takes rows of tiles all the way. Large weights: the threads share
/// the transformed inputs of many tiles, and each reads its share of the weights once for them.
private final class WinogradConvolutionKernel: FusingKernel {
    private enum Phase {
        case weights
        case tiles
        case inputs(Range<Int>)
        case panels(Range<Int>)
        case epilogue(Range<Int>)
    }

    /// Transformed weights of more floats than this are read by panels.
    private static let smallWeights = 1 << 20
    /// Floats of transformed inputs that stay near one core, and near all of them.
    private static let ownInputs = 1 << 17
    private static let sharedInputs = 3 << 19
    private static let fewestTiles = 16
    /// Products of so many tiles stay near the core until they are transformed back.
    private static let productTiles = 96
    private static let line = 16

    private let x, weight, output: Buffer
    private let transform: WinogradWeights?
    private let tiling: WinogradTiling
    private var geometry: rt_winograd
    private let groups, tilesPerGroup, tileStride: Int
    private var plan: [Phase] = []

    init(_ operation: WinogradConvolution, x: Buffer, weight: Buffer, output: Buffer) {
        (self.x, self.weight, self.output) = (x, weight, output)
        (tiling, transform) = (operation.tiling, operation.weights)
        geometry = tiling.geometry
        groups = tiling.batch * Int(geometry.groups_per_image)
        tilesPerGroup = Int(geometry.tiles_per_group)
        tileStride = Int(geometry.stride)
        super.init(name: operation.name, work: tiling.multiplyAdds)
    }

    override var multiplyAdds: Int { tiling.multiplyAdds }
    override var takesTail: Bool { true }

    private func sharesTiles(_ threads: Int) -> Bool {
        tiling.panels * tiling.panelCount <= Self.smallWeights && groups >= 2 * threads
    }

    // MARK: Workspace

    private var ownTiles: Int {
        max(Self.ownInputs / (tiling.positions * tileStride), Self.fewestTiles)
    }

    /// Groups whose inputs the threads transform together before they multiply.
    private var sharedGroups: Int {
        let tiles = max(Self.sharedInputs / (tiling.positions * tileStride), 2 * Self.fewestTiles)
        return min(max(tiles / tilesPerGroup, 1), groups)
    }

    private func inputStride(_ tiles: Int) -> Int { tiles * tileStride + Self.line }
    private func inputCount(_ tiles: Int) -> Int { tiling.positions * inputStride(tiles) }
    private func productStride(_ tiles: Int) -> Int { tiles * panelWidth + Self.line }
    private func productCount(_ tiles: Int) -> Int { tiling.positions * productStride(tiles) }

    /// Floats of each thread's own part.
    private func ownCount(_ threads: Int) -> Int {
        if sharesTiles(threads) {
            return max(
                inputCount(ownTiles) + productCount(ownTiles),
                transform == nil ? 0 : tiling.scratchCount)
        }
        return productCount(Self.productTiles)
            + (transform == nil ? 0 : tiling.panelCount + tiling.scratchCount)
    }

    /// Floats of what the threads share: transformed weights or transformed inputs.
    private func sharedCount(_ threads: Int) -> Int {
        guard sharesTiles(threads) else { return inputCount(sharedGroups * tilesPerGroup) }
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
        plan = stride(from: 0, to: groups, by: sharedGroups).flatMap { first -> [Phase] in
            let range = first..<min(first + sharedGroups, groups)
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
            let tiles = part.range(range.count * tilesPerGroup)
            transformInputs(
                range.lowerBound, tiles, workspace + tiles.lowerBound * tileStride,
                inputStride(sharedGroups * tilesPerGroup))
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
                scratch: scratch, &geometry)
        }
    }

    private func transformInputs(
        _ group: Int, _ tiles: Range<Int>, _ target: UnsafeMutablePointer<Float>, _ step: Int
    ) {
        rt_winograd_input(
            target, step, x.pointer, &geometry, group, tiles.lowerBound, tiles.upperBound)
    }

    private func runTiles(
        _ part: Part, _ workspace: UnsafeMutablePointer<Float>, _ own: UnsafeMutablePointer<Float>
    ) {
        let weights = transform == nil ? UnsafePointer(weight.pointer) : UnsafePointer(workspace)
        let products = own + inputCount(ownTiles)
        let mine = part.range(groups)
        let step = max(ownTiles / tilesPerGroup, 1)
        for group in stride(from: mine.lowerBound, to: mine.upperBound, by: step) {
            let range = group..<min(group + step, mine.upperBound)
            let count = range.count * tilesPerGroup
            for tile in stride(from: 0, to: count, by: ownTiles) {
                let tiles = tile..<min(tile + ownTiles, count)
                transformInputs(group, tiles, own, inputStride(ownTiles))
                for panel in 0..<tiling.panels {
                    multiply(
                        tiles, panel, own, inputStride(ownTiles),
                        weights + panel * tiling.panelCount, products, productStride(ownTiles))
                    transformBack(group, tiles, panel, products, productStride(ownTiles))
                }
            }
            finish(tiling.elements(of: range, geometry), thread: part.index)
        }
    }

    private func runPanels(
        _ part: Part, _ range: Range<Int>, _ inputs: UnsafeMutablePointer<Float>,
        _ products: UnsafeMutablePointer<Float>
    ) {
        let count = range.count * tilesPerGroup
        let pieces = (count + Self.productTiles - 1) / Self.productTiles
        let step = productStride(Self.productTiles)
        let ownWeights = products + productCount(Self.productTiles)
        var present: Int?
        for item in part.range(tiling.panels * pieces) {
            let (panel, piece) = item.quotientAndRemainder(dividingBy: pieces)
            let tiles = count * piece / pieces..<count * (piece + 1) / pieces
            if let transform, present != panel {
                transform.transform(
                    panel: panel, of: weight, into: ownWeights,
                    scratch: ownWeights + tiling.panelCount, &geometry)
                present = panel
            }
            let weights =
                transform == nil ? weight.pointer + panel * tiling.panelCount : ownWeights
            multiply(
                tiles, panel, inputs + tiles.lowerBound * tileStride,
                inputStride(sharedGroups * tilesPerGroup), weights, products, step)
            transformBack(range.lowerBound, tiles, panel, products, step)
        }
    }

    private func multiply(
        _ tiles: Range<Int>, _ panel: Int, _ inputs: UnsafePointer<Float>, _ inputStep: Int,
        _ weights: UnsafePointer<Float>, _ products: UnsafeMutablePointer<Float>,
        _ productStep: Int
    ) {
        let depth = tiling.depth * panelWidth
        for position in 0..<tiling.positions {
            rt_gemm_panel(
                tiles.count, tiling.depth, inputs + position * inputStep, tileStride, 1,
                weights + position * depth, panelWidth, products + position * productStep,
                panelWidth, Int32(width(panel)), 0, nil)
        }
    }

    private func width(_ panel: Int) -> Int {
        min(tiling.columns - panel * panelWidth, panelWidth)
    }

    private func transformBack(
        _ group: Int, _ tiles: Range<Int>, _ panel: Int, _ products: UnsafePointer<Float>,
        _ step: Int
    ) {
        withTail { tail in
            rt_winograd_output(
                output.pointer, products, step, &geometry, group, tiles.lowerBound,
                tiles.upperBound, Int32(panel * panelWidth), Int32(width(panel)), tail)
        }
    }
}

import CRetintKernels
import RetintCompiler
import RetintGraph
import RetintTensors

/// The gradient of ``WinogradConvolution`` with respect to its weights. Inputs: x and dy.
struct WinogradWeightGradient: KernelOperation {
    static let name = "conv2d_weight_winograd"
    let tiling: WinogradTiling
    let shape: Shape

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...2)
        return shape
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        WinogradWeightGradientKernel(self, x: inputs[0], dy: inputs[1], output: output)
    }
}

/// Transforms inputs and output gradients of some tiles, sums their products at each position, and
/// transforms the sums back at the end.
private final class WinogradWeightGradientKernel: Kernel {
    private enum Phase {
        case transforms(Range<Int>)
        case products(Range<Int>, isFirst: Bool)
        case back
    }

    /// Floats of transformed inputs and gradients at a time.
    private static let transformed = 1 << 21
    /// Input channels that one thread multiplies at a time.
    private static let blockChannels = 96

    private let x, dy, output: Buffer
    private let tiling: WinogradTiling
    private let tiles: WinogradTiles
    private let geometry: rt_winograd
    private var plan: [Phase] = []

    init(_ operation: WinogradWeightGradient, x: Buffer, dy: Buffer, output: Buffer) {
        (self.x, self.dy, self.output, tiling) = (x, dy, output, operation.tiling)
        tiles = WinogradTiles(tiling, RT_FLOAT32)
        geometry = tiles.geometry
        super.init(name: operation.name, work: tiling.multiplyAdds)
    }

    override var multiplyAdds: Int { tiling.multiplyAdds }

    /// Groups that are transformed at a time.
    private var chunk: Int {
        let perTile = tiling.positions * (tiles.stride + tiling.panels * panelWidth)
        return min(max(Self.transformed / perTile / tiles.perGroup, 1), tiles.groups)
    }

    private var chunkTiles: Int { chunk * tiles.perGroup }
    private var inputCount: Int { tiles.inputCount(chunkTiles) }
    private var gradientCount: Int { tiles.productCount(chunkTiles) }

    override func workspaceCount(threads: Int) -> Int {
        inputCount + tiling.panels * (gradientCount + tiling.panelCount(RT_FLOAT32))
            + threads * tiling.packedCount
    }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        plan = tiles.chunks(of: chunk).flatMap { range -> [Phase] in
            [.transforms(range), .products(range, isFirst: range.lowerBound == 0)]
        }
        plan.append(.back)
    }

    override var phases: Int { plan.count }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let gradients = workspace + inputCount
        let products = gradients + tiling.panels * gradientCount
        switch plan[phase] {
        case .transforms(let range): transform(part, range, workspace, gradients)
        case .products(let range, let isFirst):
            multiply(part, range, workspace, gradients, products, isFirst: isFirst)
        case .back:
            var geometry = geometry
            let scratch = products + tiling.panels * tiling.panelCount(RT_FLOAT32)
            for panel in part.range(tiling.panels) {
                rt_winograd_weight_gradient(
                    output.pointer, scratch + part.index * tiling.packedCount,
                    products + panel * tiling.panelCount(RT_FLOAT32),
                    tiling.weightStride(tiling.depth, RT_FLOAT32),
                    &geometry, Int32(panel * panelWidth))
            }
        }
    }

    private func transform(
        _ part: Part, _ range: Range<Int>, _ inputs: UnsafeMutablePointer<Float>,
        _ gradients: UnsafeMutablePointer<Float>
    ) {
        var geometry = geometry
        let own = part.range(range.count * tiles.perGroup)
        tiles.transformInputs(
            x, range.lowerBound, own, into: tiles.tile(own.lowerBound, of: inputs),
            tiles.inputStride(chunkTiles), scale: 1)
        for panel in 0..<tiling.panels {
            rt_winograd_gradient(
                gradients + panel * gradientCount + own.lowerBound * panelWidth,
                tiles.productStride(chunkTiles),
                dy.pointer, &geometry, range.lowerBound, own.lowerBound, own.upperBound,
                Int32(panel * panelWidth))
        }
    }

    private func multiply(
        _ part: Part, _ range: Range<Int>, _ inputs: UnsafePointer<Float>,
        _ gradients: UnsafePointer<Float>, _ products: UnsafeMutablePointer<Float>, isFirst: Bool
    ) {
        let count = range.count * tiles.perGroup
        let inputStep = tiles.inputStride(chunkTiles)
        let gradientStep = tiles.productStride(chunkTiles)
        let blocks = (tiling.depth + Self.blockChannels - 1) / Self.blockChannels
        for item in part.range(tiling.panels * tiling.positions * blocks) {
            let (product, block) = item.quotientAndRemainder(dividingBy: blocks)
            let (panel, position) = product.quotientAndRemainder(dividingBy: tiling.positions)
            let first = tiling.depth * block / blocks
            let last = tiling.depth * (block + 1) / blocks
            let width = min(tiling.outputs - panel * panelWidth, panelWidth)
            rt_gemm_panel(
                last - first, count, inputs + position * inputStep + first, 1, tiles.stride,
                gradients + panel * gradientCount + position * gradientStep, panelWidth,
                products + panel * tiling.panelCount(RT_FLOAT32)
                    + position * tiling.weightStride(tiling.depth, RT_FLOAT32) + first * panelWidth,
                panelWidth, Int32(width), isFirst ? 0 : 1, nil)
        }
    }
}

import CKernels
import TensorGraph

/// The gradient of ``WinogradConvolution`` with respect to its weights. Inputs: x and dy.
struct WinogradWeightGradient: Operation, Executable {
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

/// Transforms inputs and output gradients of some tiles, adds up their products at each position,
/// and transforms the sums back at the end.
private final class WinogradWeightGradientKernel: Kernel {
    private enum Phase {
        case transforms(Range<Int>)
        case products(Range<Int>, isFirst: Bool)
        case back
    }

    /// Floats of transformed inputs and gradients at a time.
    private static let transformed = 1 << 21
    private static let line = 16
    /// Input channels that one thread multiplies at a time.
    private static let blockChannels = 96

    private let x, dy, output: Buffer
    private let tiling: WinogradTiling
    private var geometry: rt_winograd
    private let groups, tilesPerGroup, tileStride: Int
    private var plan: [Phase] = []

    init(_ operation: WinogradWeightGradient, x: Buffer, dy: Buffer, output: Buffer) {
        (self.x, self.dy, self.output, tiling) = (x, dy, output, operation.tiling)
        geometry = tiling.geometry
        groups = tiling.batch * Int(geometry.groups_per_image)
        tilesPerGroup = Int(geometry.tiles_per_group)
        tileStride = Int(geometry.stride)
        super.init(name: operation.name, work: tiling.multiplyAdds)
    }

    override var multiplyAdds: Int { tiling.multiplyAdds }

    private var chunk: Int {
        let perTile = tiling.positions * (tileStride + tiling.panels * panelWidth)
        return min(max(Self.transformed / perTile / tilesPerGroup, 1), groups)
    }

    private var tiles: Int { chunk * tilesPerGroup }
    private var inputStep: Int { tiles * tileStride + Self.line }
    private var gradientStep: Int { tiles * panelWidth + Self.line }
    private var inputCount: Int { tiling.positions * inputStep }
    private var gradientCount: Int { tiling.positions * gradientStep }

    override func workspaceCount(threads: Int) -> Int {
        inputCount + tiling.panels * (gradientCount + tiling.panelCount)
            + threads * tiling.scratchCount
    }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        plan = stride(from: 0, to: groups, by: chunk).flatMap { first -> [Phase] in
            let range = first..<min(first + chunk, groups)
            return [.transforms(range), .products(range, isFirst: first == 0)]
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
            let scratch = products + tiling.panels * tiling.panelCount
            for number in part.range(tiling.panels) {
                rt_winograd_weight_gradient(
                    output.pointer, scratch + part.index * tiling.scratchCount,
                    products + number * tiling.panelCount, &geometry, Int32(number * panelWidth))
            }
        }
    }

    private func transform(
        _ part: Part, _ range: Range<Int>, _ inputs: UnsafeMutablePointer<Float>,
        _ gradients: UnsafeMutablePointer<Float>
    ) {
        let own = part.range(range.count * tilesPerGroup)
        rt_winograd_input(
            inputs + own.lowerBound * tileStride, inputStep, x.pointer, &geometry, range.lowerBound,
            own.lowerBound, own.upperBound)
        for number in 0..<tiling.panels {
            rt_winograd_gradient(
                gradients + number * gradientCount + own.lowerBound * panelWidth, gradientStep,
                dy.pointer, &geometry, range.lowerBound, own.lowerBound, own.upperBound,
                Int32(number * panelWidth))
        }
    }

    private func multiply(
        _ part: Part, _ range: Range<Int>, _ inputs: UnsafePointer<Float>,
        _ gradients: UnsafePointer<Float>, _ products: UnsafeMutablePointer<Float>, isFirst: Bool
    ) {
        let count = range.count * tilesPerGroup
        let blocks = (tiling.depth + Self.blockChannels - 1) / Self.blockChannels
        for item in part.range(tiling.panels * tiling.positions * blocks) {
            let (place, block) = item.quotientAndRemainder(dividingBy: blocks)
            let (number, position) = place.quotientAndRemainder(dividingBy: tiling.positions)
            let first = tiling.depth * block / blocks
            let last = tiling.depth * (block + 1) / blocks
            let width = min(tiling.outputs - number * panelWidth, panelWidth)
            rt_gemm_panel(
                last - first, count, inputs + position * inputStep + first, 1, tileStride,
                gradients + number * gradientCount + position * gradientStep, panelWidth,
                products + number * tiling.panelCount
                    + (position * tiling.depth + first) * panelWidth,
                panelWidth, Int32(width), isFirst ? 0 : 1, nil)
        }
    }
}

import CKernels
import TensorGraph

/// Weights transformed for ``WinogradConvolution``: panels of [positions, inputs, RT_PANEL].
struct WinogradWeights: KernelOperation {
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
        scratch: UnsafeMutablePointer<Float>, _ geometry: rt_winograd
    ) {
        var geometry = geometry
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
        let geometry = tiling.geometry
        for panel in part.range(tiling.panels) {
            operation.transform(
                panel: panel, of: weight, into: output.pointer + panel * tiling.panelCount,
                scratch: workspace + part.index * tiling.scratchCount, geometry)
        }
    }
}

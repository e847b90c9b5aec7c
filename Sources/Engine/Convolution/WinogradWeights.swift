import CKernels
import TensorGraph

/// Weights transformed for ``WinogradConvolution``: panels of [positions, inputs, RT_PANEL].
struct WinogradWeights: KernelOperation {
    static let name = "winograd_weights"
    let tiling: WinogradTiling

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        return [tiling.panels * tiling.panelCount]
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let weight = inputs[0]
        return LoopKernel(
            name: name, work: output.count, count: tiling.panels, scratch: tiling.packedCount
        ) { panels, packed in
            for panel in panels {
                tiling.pack(panel, of: weight, into: packed)
                tiling.transform(
                    packed, panel, 0..<tiling.depth,
                    into: output.pointer + panel * tiling.panelCount)
            }
        }
    }
}

extension WinogradTiling {
    /// The form in which a convolution takes its weights.
    enum WeightForm {
        /// As they are, packed and transformed in each run.
        case plain
        /// By ``PanelWeights``, transformed in each run: that takes no longer than reading
        /// transformed weights, which are up to 16 times as large, from memory.
        case packed
        /// By ``WinogradWeights``.
        case transformed
    }

    /// Larger transformed weights, in floats, are not kept, and are read by panels.
    private static let smallWeights = 1 << 20

    /// Whether all transformed weights stay in the cache of a core.
    var hasSmallWeights: Bool { panels * panelCount <= Self.smallWeights }

    func weights(areFixed: Bool) -> WeightForm {
        guard areFixed else { return .plain }
        return hasSmallWeights ? .transformed : .packed
    }

    /// Lays out one panel of weights.
    func pack(_ panel: Int, of weight: Buffer, into target: UnsafeMutablePointer<Float>) {
        let g = geometry
        rt_pack_panel(
            target, weight.pointer, g.kernel * g.kernel, g.channels, g.out_channels,
            Int32(panel * panelWidth) % g.out_channels, weightOrder)
    }

    /// Transforms one panel of packed weights for a range of inputs.
    func transform(
        _ packed: UnsafePointer<Float>, _ panel: Int, _ inputs: Range<Int>,
        into target: UnsafeMutablePointer<Float>
    ) {
        var geometry = geometry
        rt_winograd_weights(
            target, weightStride(inputs.count), packed, &geometry, Int32(panel * panelWidth),
            Int32(inputs.lowerBound), Int32(inputs.upperBound))
    }
}

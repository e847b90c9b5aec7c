import CRetintKernels
import RetintCompiler
import RetintGraph
import RetintTensors

/// Weights transformed for ``WinogradConvolution``: panels of [positions, inputs, RT_PANEL].
struct WinogradWeights: KernelOperation {
    static let name = "winograd_weights"
    let tiling: WinogradTiling
    let format: rt_format

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        return [tiling.panels * tiling.panelCount(format)]
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let (weight, count) = (inputs[0], tiling.panelCount(RT_FLOAT32))
        return LoopKernel(
            name: name, work: tiling.panels * count, count: tiling.panels,
            scratch: tiling.packedCount + (format.isHalf ? count : 0)
        ) { panels, packed in
            for panel in panels {
                let target = output.pointer + panel * tiling.panelCount(format)
                let transformed = format.isHalf ? packed + tiling.packedCount : target
                tiling.pack(panel, of: weight, into: packed)
                tiling.transform(packed, panel, 0..<tiling.depth, into: transformed)
                if format.isHalf { tiling.round(transformed, into: target, format) }
            }
        }
    }
}

extension WinogradTiling {
    /// The representation in which a convolution takes its weights.
    enum WeightForm {
        /// Unchanged, packed and transformed in each run.
        case plain
        /// Packed by ``PanelWeights``, transformed in each run: that takes no longer than reading
        /// transformed weights, which are up to 16 times as large, from memory.
        case packed
        /// Transformed by ``WinogradWeights``.
        case transformed
    }

    /// Larger transformed weights, in floats, are not kept, and are read by panels.
    private static let smallWeights = 1 << 20

    /// Whether all transformed weights stay in the cache of a core.
    var hasSmallWeights: Bool { panels * panelCount(RT_FLOAT32) <= Self.smallWeights }

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
            target, weightStride(inputs.count, RT_FLOAT32), packed, &geometry,
            Int32(panel * panelWidth),
            Int32(inputs.lowerBound), Int32(inputs.upperBound))
    }
}

extension WinogradTiling {
    /// Transforms are up to 3 times as large as 16-bit weights, which are below 2^4.
    private static let halfScale: Float = 0.25

    /// Transforms one panel of 16-bit weights for a range of inputs.
    ///
    /// - Returns: the factor for products with these weights.
    func transform(
        _ packed: HalfPanel, _ panel: Int, _ inputs: Range<Int>,
        into target: UnsafeMutablePointer<rt_half>, _ format: rt_format
    ) -> Float {
        var geometry = geometry
        rt_winograd_paired_weights(
            target, weightStride(inputs.count, format), packed.values, &geometry,
            Int32(panel * panelWidth), Int32(inputs.lowerBound), Int32(inputs.upperBound),
            Self.halfScale, format)
        return packed.unscale / Self.halfScale
    }

    /// Rounds one panel of transformed weights to 16 bits.
    func round(
        _ transformed: UnsafePointer<Float>, into target: UnsafeMutablePointer<Float>,
        _ format: rt_format
    ) {
        HalfPanel(memory: target).fill(
            from: transformed, runs: positions, rows: depth,
            step: weightStride(depth, RT_FLOAT32), halfStep: weightStride(depth, format), format)
    }
}

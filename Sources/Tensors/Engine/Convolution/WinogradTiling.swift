import CRetintKernels
import RetintGraph
import RetintTensors

/// How a convolution by Winograd's algorithm is divided into tiles, and the resulting sizes.
struct WinogradTiling: Hashable {
    /// The side of a tile in outputs: 2 or 4 for a 3×3 kernel of stride 1, 3 for a 4×4 kernel of
    /// stride 2.
    let tile: Int
    private let kind: ConvolutionTask.Kind
    private let input, output: Shape
    private let kernel: Int
    private let window: Window

    /// - Returns: nil if the shapes do not allow it.
    init?(_ task: ConvolutionTask, tile: Int) {
        let isGradient = task.kind == .weightGradient
        (kind, input, output) = (
            task.kind, task.inputs[0], isGradient ? task.inputs[1] : task.output
        )
        (kernel, self.tile) = (task.kernel.height, tile)
        let isPlain = task.window.stride == 1
        // A transposed convolution of stride 1 is a convolution with its kernel rotated by 180°.
        window =
            task.kind == .transposed && isPlain ? task.window.rotated(task.kernel) : task.window
        guard task.kernel.height == task.kernel.width,
            window.dilation.width == window.dilation.height,
            window.dilation.width <= Self.largestDilation,
            input[1].isMultiple(of: 16), output[1].isMultiple(of: 16)
        else { return nil }
        guard !isPlain else {
            if kernel != 3 || isForStride { return nil }
            return
        }
        guard isForStride, window.stride == 2, window.dilation == 1, kernel == 4,
            kind != .transposed || output[1].isMultiple(of: panelWidth)
        else { return nil }
    }

    private var isForStride: Bool { tile == 3 }

    /// Of the tiles of a wider one, most would lie outside the image; their number is an Int32.
    private static let largestDilation = 64

    var algorithm: ConvolutionAlgorithm {
        switch tile {
        case 2: .winograd2
        case 3: .winograd3
        default: .winograd4
        }
    }

    /// The order of the weights before they are transformed.
    var weightOrder: rt_weight_order {
        if kind != .transposed { return RT_OUTPUTS_FIRST }
        return isForStride ? RT_INPUTS_FIRST : RT_INPUTS_FIRST_ROTATED
    }

    // MARK: Cost

    /// An estimate of the work, in products per output pixel and pair of channels. The transforms
    /// add about a third.
    var cost: Double {
        let g = geometry
        let tiles = Int(g.groups_per_image) * Int(g.tiles_per_group) * phases(outStep)
        return 1.3 * Double(tiles * positions * phases(inStep)) / Double(output[2] * output[3])
    }

    /// The same without Winograd's algorithm.
    var directCost: Double { Double(kernel * kernel) / Double(phases(outStep)) }

    /// The multiply-adds of the convolution by its definition.
    var multiplyAdds: Int {
        let applications = kind == .transposed ? input.count * output[1] : output.count * input[1]
        return applications * kernel * kernel
    }

    // MARK: Geometry

    private var isStrided: Bool { window.stride == 2 }
    private var inStep: Int { isStrided && kind != .transposed ? 2 : 1 }
    private var outStep: Int { isStrided && kind == .transposed ? 2 : 1 }
    private func phases(_ step: Int) -> Int { step * step }

    var geometry: rt_winograd {
        var g = rt_winograd()
        (g.height, g.width, g.channels) = (Int32(input[2]), Int32(input[3]), Int32(input[1]))
        (g.out_height, g.out_width) = (Int32(output[2]), Int32(output[3]))
        g.out_channels = Int32(output[1])
        let (top, left) = (Int32(window.padding.top), Int32(window.padding.left))
        // Every output of a 2×2 kernel reads the pixel before; outputs in the padding are dropped.
        (g.pad_top, g.pad_left) = outStep == 2 ? (1, 1) : (top, left)
        (g.out_top, g.out_left) = outStep == 2 ? (top, left) : (0, 0)
        (g.in_step, g.out_step) = (Int32(inStep), Int32(outStep))
        (g.dilation, g.tile) = (Int32(window.dilation.height), Int32(tile))
        g.kernel = Int32(kernel)
        rt_winograd_derive(&g)
        return g
    }

    var batch: Int { input[0] }
    var channels: Int { input[1] }
    var outputs: Int { output[1] }
    /// Channels of all phases: the depth of the products.
    var depth: Int { channels * phases(inStep) }
    /// Output channels of all phases.
    var columns: Int { outputs * phases(outStep) }
    private var side: Int { tile == 4 ? 6 : 4 }
    var positions: Int { side * side }
    var panels: Int { (columns + panelWidth - 1) / panelWidth }
    /// Elements from one position to the next of a panel's transformed weights for `depth` inputs:
    /// a cache line more than their size, so that positions do not map to the same cache set.
    func weightStride(_ depth: Int, _ format: rt_format) -> Int {
        depth * panelWidth + 64 / format.size
    }
    /// Floats of one panel of transformed weights, or of the products of their gradients.
    func panelCount(_ format: rt_format) -> Int {
        let elements = positions * weightStride(depth, format)
        return format.isHalf ? HalfPanel.count(elements) : elements
    }
    /// Rows of one panel of weights that are not transformed.
    var packedRows: Int { kernel * kernel * channels }
    /// Floats of one panel of weights that are not transformed.
    var packedCount: Int { packedRows * panelWidth }

    /// The elements of the output that groups of tiles compute: whole rows, all channels.
    func elements(of groups: Range<Int>, _ g: rt_winograd) -> Range<Int> {
        let line = output[3] * outputs
        func start(_ group: Int) -> Int {
            let (image, index) = group.quotientAndRemainder(dividingBy: Int(g.groups_per_image))
            let row = index * tile * Int(g.dilation) * outStep - Int(g.out_top)
            return (image * output[2] + min(max(row, 0), output[2])) * line
        }
        return start(groups.lowerBound)..<start(groups.upperBound)
    }
}

extension Window {
    /// The window of the convolution that equals a transposed one of stride 1 with this window,
    /// once its kernel is rotated by 180°.
    func rotated(_ kernel: Pair) -> Window {
        var rotated = self
        rotated.padding = Padding(
            top: dilation.height * (kernel.height - 1) - padding.top, bottom: 0,
            left: dilation.width * (kernel.width - 1) - padding.left, right: 0)
        return rotated
    }
}

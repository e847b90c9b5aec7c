import CKernels
import TensorGraph

/// Chooses how each convolution, and each gradient of one, is computed.
///
/// - a handful of output channels: products along the input channels;
/// - 3×3 with stride 1: Winograd's form, where that saves multiplications;
/// - other kernels without groups: products straight from the picture;
/// - what fits neither (few channels, groups) stays what it is.
struct ConvolutionChoice {
    let winograd: CompileOptions.Winograd
    /// Whether variables change from run to run, so that weights cannot be laid out beforehand.
    let learns: Bool
    /// Weights of each kernel element from which on the gradient's transforms pay.
    private static let manyWeights = 64 * 64

    private func allows(_ tiling: WinogradTiling, isGradient: Bool) -> Bool {
        switch winograd {
        case .never: false
        case .wherePossible: true
        case .whereFaster:
            !isGradient || tiling.channels * tiling.outputs >= Self.manyWeights
        }
    }

    func callAsFunction(
        _ graph: Graph, _ operation: any Operation, _ inputs: [Tensor]
    ) -> Tensor {
        let shapes = inputs.map(\.shape)
        guard inputs.count == 2, let output = try? operation.outputShape(for: shapes) else {
            return graph.apply(operation, inputs)
        }
        switch operation {
        case let convolution as Convolution where convolution.groups == 1:
            let kernel = Pair(shapes[1][2], shapes[1][3])
            return few(graph, inputs, output, convolution.window)
                ?? tiles(graph, inputs, output, kernel, convolution.window, turns: false)
                ?? panels(graph, inputs, output, kernel, convolution.window, isTransposed: false)
                ?? graph.apply(operation, inputs)
        case let transpose as ConvolutionTranspose where transpose.groups == 1:
            let kernel = Pair(shapes[1][2], shapes[1][3])
            let turned = transpose.window.turned(kernel)
            return tiles(graph, inputs, output, kernel, turned, turns: true)
                ?? panels(graph, inputs, output, kernel, transpose.window, isTransposed: true)
                ?? graph.apply(operation, inputs)
        case let gradient as ConvolutionWeightGradient where gradient.groups == 1:
            let tiling = WinogradTiling(
                x: shapes[0], y: shapes[1], kernel: gradient.kernel, window: gradient.window)
            guard let tiling, allows(tiling, isGradient: true) else {
                return graph.apply(operation, inputs)
            }
            return graph.apply(WinogradWeightGradient(tiling: tiling, shape: output), inputs)
        default: return graph.apply(operation, inputs)
        }
    }

    private func few(
        _ graph: Graph, _ inputs: [Tensor], _ output: Shape, _ window: Window
    ) -> Tensor? {
        guard output[1] <= RT_FEW, inputs[0].shape[1] >= 16 else { return nil }
        return graph.apply(FewOutputsConvolution(window: window, shape: output), inputs)
    }

    private func tiles(
        _ graph: Graph, _ inputs: [Tensor], _ output: Shape, _ kernel: Pair, _ window: Window,
        turns: Bool
    ) -> Tensor? {
        guard
            let tiling = WinogradTiling(
                x: inputs[0].shape, y: output, kernel: kernel, window: window),
            allows(tiling, isGradient: false)
        else { return nil }
        let weights = WinogradWeights(tiling: tiling, turns: turns)
        let isFixed = isConstantPerLoad(inputs[1], graph)
        let operation = WinogradConvolution(
            tiling: tiling, shape: output, weights: isFixed ? nil : weights)
        let second = isFixed ? graph.apply(weights, [inputs[1]]) : inputs[1]
        return graph.apply(operation, [inputs[0], second])
    }

    private func panels(
        _ graph: Graph, _ inputs: [Tensor], _ output: Shape, _ kernel: Pair, _ window: Window,
        isTransposed: Bool
    ) -> Tensor? {
        guard kernel.height * kernel.width <= Int(RT_MOST_TAPS) else { return nil }
        let weights = PanelWeights(isTransposed: isTransposed)
        let isFixed = isConstantPerLoad(inputs[1], graph)
        let operation = PanelConvolution(
            window: window, kernel: kernel, shape: output, weights: weights, isPacked: isFixed)
        let second = isFixed ? graph.apply(weights, [inputs[1]]) : inputs[1]
        return graph.apply(operation, [inputs[0], second])
    }

    /// Whether a value depends on constants and loaded variables alone.
    private func isConstantPerLoad(_ value: Tensor, _ graph: Graph) -> Bool {
        guard !learns else { return false }
        var open = [value.id]
        while let id = open.popLast() {
            let node = graph.nodes[id]
            if node.operation is Input { return false }
            if let variable = node.operation as? Variable, variable.role == .setting {
                return false
            }
            open += node.inputs
        }
        return true
    }
}

extension Window {
    /// The window of the convolution that a transposed one of stride 1 is, with its kernel turned.
    func turned(_ kernel: Pair) -> Window {
        var turned = self
        turned.padding = Padding(
            top: dilation.height * (kernel.height - 1) - padding.top, bottom: 0,
            left: dilation.width * (kernel.width - 1) - padding.left, right: 0)
        return turned
    }
}

/// How a convolution is cut into tiles, and how large what is computed on the way is.
struct WinogradTiling: Hashable {
    let batch: Int
    private let input, output: Shape
    private let top, left, dilation: Int
    let tile: Int

    /// nil where direct convolution is the better choice.
    init?(x: Shape, y: Shape, kernel: Pair, window: Window) {
        let dilation = window.dilation.height
        guard kernel == 3, window.stride == 1, window.dilation.width == dilation,
            x[1].isMultiple(of: 16), y[1].isMultiple(of: 16)
        else { return nil }
        // Products for each output, of 9; the transforms cost about a third more.
        let costs = [2, 4].map { tile in
            let span = tile * dilation
            let covered = ((y[2] + span - 1) / span) * ((y[3] + span - 1) / span) * span * span
            let positions = Double((tile + 2) * (tile + 2)) / Double(tile * tile)
            return 1.3 * positions * Double(covered) / Double(y[2] * y[3])
        }
        guard min(costs[0], costs[1]) < 9 else { return nil }
        tile = costs[1] <= costs[0] ? 4 : 2
        (batch, input, output, self.dilation) = (x[0], x, y, dilation)
        (top, left) = (window.padding.top, window.padding.left)
    }

    var geometry: rt_winograd {
        var g = rt_winograd()
        (g.height, g.width, g.channels) = (Int32(input[2]), Int32(input[3]), Int32(input[1]))
        (g.out_height, g.out_width) = (Int32(output[2]), Int32(output[3]))
        g.out_channels = Int32(output[1])
        (g.pad_top, g.pad_left) = (Int32(top), Int32(left))
        (g.dilation, g.tile) = (Int32(dilation), Int32(tile))
        rt_winograd_derive(&g)
        return g
    }

    var channels: Int { input[1] }
    var outputs: Int { output[1] }
    var positions: Int { (tile + 2) * (tile + 2) }
    var panels: Int { (outputs + panelWidth - 1) / panelWidth }
    /// Floats of one panel of transformed weights.
    var panelCount: Int { positions * channels * panelWidth }
    /// Floats that the transform of one panel needs besides.
    var scratchCount: Int { 9 * channels * panelWidth }

    /// The elements of the output that groups of tiles make up: whole rows, all channels.
    func elements(of groups: Range<Int>, _ g: rt_winograd) -> Range<Int> {
        let line = output[3] * outputs
        func start(_ group: Int) -> Int {
            let (image, place) = group.quotientAndRemainder(dividingBy: Int(g.groups_per_image))
            return (image * output[2] + min(place * tile * dilation, output[2])) * line
        }
        return start(groups.lowerBound)..<start(groups.upperBound)
    }
}

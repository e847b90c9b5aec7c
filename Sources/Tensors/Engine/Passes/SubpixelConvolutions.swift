import CRetintKernels
import RetintCompiler
import RetintGraph
import RetintTensors

/// Replaces a transposed convolution to few channels, with loaded weights, by a convolution and a
/// pixel shuffle.
///
/// The pixels of a block of stride × stride outputs follow from the same inputs: as channels of one
/// pixel they fill more of a panel than each of them would.
struct SubpixelConvolutions: GraphPass {
    static let name = "shuffle transposed convolutions"
    /// Whether a run changes variables.
    let learns: Bool

    func run(on input: GraphPassInput) -> GraphPassResult {
        let loaded = LoadedValues(learns: learns)
        return GraphRewrite.run(on: input) { rewrite, id in
            let node = input.graph.nodes[id]
            guard
                let task = ConvolutionTask(
                    node.operation, node.inputs.map { input.graph.nodes[$0].shape }),
                loaded.contains(node.inputs[1], of: input.graph),
                let convolution = SubpixelConvolution(task)
            else { return nil }
            return convolution.applied(
                to: rewrite.copy(of: node.inputs[0]), rewrite.copy(of: node.inputs[1]))
        }
    }
}

private struct SubpixelConvolution {
    private let task: ConvolutionTask
    private let rows, columns: Axis
    private var stride: Int { task.window.stride.height }

    /// One axis: which inputs the outputs of a block follow from.
    private struct Axis {
        /// The first and the last one, relative to the block.
        let first, last: Int
        /// Weights of zero before and after the kernel, so that each input has one for each output.
        let before, after: Int
        var count: Int { last - first + 1 }

        init(kernel: Int, stride: Int, padding: Int) {
            // Output o of block i reads input i + n through weight o + padding − stride·n.
            last = (stride - 1 + padding) / stride
            first = -((kernel - 1 - padding) / stride)
            before = stride * last - padding
            after = stride * (last - first + 1) - before - kernel
        }
    }

    /// - Returns: nil for another task, or if nothing would be gained.
    init?(_ task: ConvolutionTask) {
        let (window, kernel, x, y) = (task.window, task.kernel, task.inputs[0], task.output)
        let stride = window.stride.height
        guard task.kind == .transposed, window.stride.width == stride, stride > 1,
            window.dilation == 1, y[1] * stride * stride <= Int(RT_HALF),
            y[2] == x[2] * stride, y[3] == x[3] * stride,
            window.padding.top < kernel.height, window.padding.left < kernel.width
        else { return nil }
        self.task = task
        rows = Axis(kernel: kernel.height, stride: stride, padding: window.padding.top)
        columns = Axis(kernel: kernel.width, stride: stride, padding: window.padding.left)
    }

    func applied(to x: Tensor, _ weight: Tensor) -> Tensor {
        let padding = Padding(
            top: -rows.first, bottom: rows.last, left: -columns.first, right: columns.last)
        return conv2d(x, weight: subpixelWeight(weight), padding: padding)
            .applying(OrderedPixelShuffle(factor: stride))
    }

    /// From [Cin, Cout, KH, KW] to [stride²·Cout, Cin, inputs of a block].
    private func subpixelWeight(_ weight: Tensor) -> Tensor {
        let (inputs, outputs) = (weight.shape[0], weight.shape[1])
        let whole = weight.padded(
            before: [0, 0, rows.before, columns.before], after: [0, 0, rows.after, columns.after])
        let blocks = whole.reshaped([inputs, outputs, rows.count, stride, columns.count, stride])
        return flipped(flipped(blocks, axis: 2), axis: 4).transposed([3, 5, 1, 0, 2, 4])
            .reshaped([stride * stride * outputs, inputs, rows.count, columns.count])
    }

    /// The last weights belong to the first inputs.
    private func flipped(_ value: Tensor, axis: Int) -> Tensor {
        let count = value.shape[axis]
        guard count > 1 else { return value }
        return concat(
            (0..<count).reversed().map { value.sliced(axis: axis, $0..<$0 + 1) }, axis: axis)
    }
}

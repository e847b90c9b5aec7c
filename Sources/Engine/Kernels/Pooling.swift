import CKernels
import TensorGraph

/// A window over pictures in the form that the C loops take.
func convolutionGeometry(
    x: Shape, y: Shape, kernel: Pair, window: Window, groups: Int
) -> rt_conv {
    rt_conv(
        batch: Int32(x[0]), height: Int32(x[2]), width: Int32(x[3]), channels: Int32(x[1]),
        out_height: Int32(y[2]), out_width: Int32(y[3]), out_channels: Int32(y[1]),
        kernel_height: Int32(kernel.height), kernel_width: Int32(kernel.width),
        stride_height: Int32(window.stride.height), stride_width: Int32(window.stride.width),
        dilation_height: Int32(window.dilation.height),
        dilation_width: Int32(window.dilation.width),
        pad_top: Int32(window.padding.top), pad_left: Int32(window.padding.left),
        groups: Int32(groups))
}

/// A kernel made of one C loop over a range of rows or channels.
final class LoopKernel: Kernel {
    private let count: Int
    private let scratch: Int
    private let body: (Range<Int>, UnsafeMutablePointer<Float>) -> Void

    /// - Parameters:
    ///   - scratch: floats that each thread gets to work with.
    ///   - body: does a part of the work, given those floats.
    init(
        name: String, work: Int, count: Int, scratch: Int,
        body: @escaping (Range<Int>, UnsafeMutablePointer<Float>) -> Void
    ) {
        (self.count, self.scratch, self.body) = (count, scratch, body)
        super.init(name: name, work: work)
    }

    convenience init(name: String, work: Int, count: Int, body: @escaping (Range<Int>) -> Void) {
        self.init(name: name, work: work, count: count, scratch: 0) { range, _ in body(range) }
    }

    override func workspaceCount(threads: Int) -> Int { threads * scratch }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        body(part.range(count), workspace + part.index * scratch)
    }
}

extension MaxPool: Executable {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let x = inputs[0]
        var geometry = convolutionGeometry(
            x: x.shape, y: output.shape, kernel: kernel, window: window, groups: 1)
        let rows = output.shape[0] * output.shape[2]
        return LoopKernel(name: name, work: x.count, count: rows) { range in
            rt_max_pool(output.pointer, x.pointer, &geometry, range.lowerBound, range.upperBound)
        }
    }
}

extension MaxPoolGradient: Executable {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let (x, dy) = (inputs[0], inputs[1])
        var geometry = convolutionGeometry(
            x: x.shape, y: dy.shape, kernel: pool.kernel, window: pool.window, groups: 1)
        return LoopKernel(name: name, work: x.count, count: x.shape[1]) { range in
            rt_max_pool_input(
                output.pointer, x.pointer, dy.pointer, &geometry, Int32(range.lowerBound),
                Int32(range.upperBound))
        }
    }
}

extension AveragePool: Executable {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let x = inputs[0]
        var geometry = convolutionGeometry(
            x: x.shape, y: output.shape, kernel: kernel, window: window, groups: 1)
        let (padding, counts) = (window.padding, countIncludePad)
        let rows = output.shape[0] * output.shape[2]
        return LoopKernel(name: name, work: x.count, count: rows) { range in
            rt_average_pool(
                output.pointer, x.pointer, &geometry, counts ? 1 : 0, Int32(padding.bottom),
                Int32(padding.right), range.lowerBound, range.upperBound)
        }
    }
}

extension AveragePoolGradient: Executable {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let dy = inputs[0]
        var geometry = convolutionGeometry(
            x: output.shape, y: dy.shape, kernel: pool.kernel, window: pool.window, groups: 1)
        let (padding, counts) = (pool.window.padding, pool.countIncludePad)
        return LoopKernel(name: name, work: output.count, count: output.shape[1]) { range in
            rt_average_pool_input(
                output.pointer, dy.pointer, &geometry, counts ? 1 : 0, Int32(padding.bottom),
                Int32(padding.right), Int32(range.lowerBound), Int32(range.upperBound))
        }
    }
}

import CRetintKernels
import RetintCompiler
import RetintGraph

extension MaxPool: KernelOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let x = inputs[0]
        let geometry = convolutionGeometry(
            x: x.shape, y: output.shape, kernel: kernel, window: window, groups: 1)
        let rows = output.shape[0] * output.shape[2]
        return LoopKernel(name: name, work: x.count, count: rows) { range in
            var geometry = geometry
            rt_max_pool(output.pointer, x.pointer, &geometry, range.lowerBound, range.upperBound)
        }
    }
}

extension MaxPoolGradient: KernelOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let (x, dy) = (inputs[0], inputs[1])
        let geometry = convolutionGeometry(
            x: x.shape, y: dy.shape, kernel: pool.kernel, window: pool.window, groups: 1)
        return LoopKernel(name: name, work: x.count, count: x.shape[1]) { range in
            var geometry = geometry
            rt_max_pool_input(
                output.pointer, x.pointer, dy.pointer, &geometry, Int32(range.lowerBound),
                Int32(range.upperBound))
        }
    }
}

extension AveragePool: KernelOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let x = inputs[0]
        let geometry = convolutionGeometry(
            x: x.shape, y: output.shape, kernel: kernel, window: window, groups: 1)
        let (padding, counts) = (window.padding, countIncludePad)
        let rows = output.shape[0] * output.shape[2]
        return LoopKernel(name: name, work: x.count, count: rows) { range in
            var geometry = geometry
            rt_average_pool(
                output.pointer, x.pointer, &geometry, counts ? 1 : 0, Int32(padding.bottom),
                Int32(padding.right), range.lowerBound, range.upperBound)
        }
    }
}

extension AveragePoolGradient: KernelOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let dy = inputs[0]
        let geometry = convolutionGeometry(
            x: output.shape, y: dy.shape, kernel: pool.kernel, window: pool.window, groups: 1)
        let (padding, counts) = (pool.window.padding, pool.countIncludePad)
        return LoopKernel(name: name, work: output.count, count: output.shape[1]) { range in
            var geometry = geometry
            rt_average_pool_input(
                output.pointer, dy.pointer, &geometry, counts ? 1 : 0, Int32(padding.bottom),
                Int32(padding.right), Int32(range.lowerBound), Int32(range.upperBound))
        }
    }
}

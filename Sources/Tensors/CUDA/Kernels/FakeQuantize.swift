import RetintCompiler
import RetintGraph
import RetintTensors

extension FakeQuantize: DeviceOperation {
    /// A block of threads for each slice that has a scale of its own.
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let shape = output.shape
        let order = Layout.axes(rank: shape.rank)
        let slices = View(axis.map { [$0] } ?? [], of: shape)
        let elements = View(order.filter { $0 != axis }, of: shape)
        let place = "first + \(elements.source("j"))"
        return [
            DeviceKernel(
                Self.name, [inputs[0], output], .blocks(slices.count, threads: 256),
                """
                RT_BLOCKS(b, \(slices.count)) {
                    const long long first = \(slices.source("b"));
                    float largest = 0.0f;
                    RT_STRIDED(j, \(elements.count)) largest = fmaxf(largest, fabsf(p0[\(place)]));
                    const float scale = rt_block_max(largest) / \(largestCode).0f;
                    const float step = scale > 0.0f ? scale : 1.0f;
                    RT_STRIDED(j, \(elements.count))
                        p1[\(place)] = step * rintf(p0[\(place)] / step);
                }
                """)
        ]
    }
}

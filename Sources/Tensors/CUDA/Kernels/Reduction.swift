import RetintCompiler
import RetintGraph
import RetintTensors

/// A block of threads for each element of the result: each thread combines some of the elements,
/// and the block combines what the threads have, always in the same order.
private protocol DeviceReduction: AxisReduction, DeviceOperation {
    /// The type of a thread's value, and what it begins with.
    var type: String { get }
    var start: String { get }
    /// The value of a thread with one more element.
    func combined(_ value: String, _ element: String) -> String
    /// The function of the prelude that combines the values of a block.
    var combiner: String { get }
    /// The result of `count` elements.
    func finished(_ value: String, count: Int) -> String
}

extension DeviceReduction {
    package func deviceKernels(
        named name: String, inputs: [Buffer], output: Buffer
    ) -> [DeviceKernel] {
        let shape = inputs[0].shape
        guard let reduced = try? reducedAxes(of: shape).sorted() else {
            preconditionFailure("\(Self.name) of \(shape) has an output, so its axes are valid")
        }
        let kept = (0..<shape.rank).filter { !reduced.contains($0) }
        let (outer, inner) = (View(kept, of: shape), View(reduced, of: shape))
        let steps = Layout.strides(output.shape)
        let target = View(
            kept.enumerated().map { index, axis in
                let step = keepDims ? steps[axis] : steps[index]
                return .init(extent: shape[axis], step: step)
            })
        let element = "p0[first + \(inner.source("j"))]"
        return [
            DeviceKernel(
                name: name, [inputs[0], output],
                """
                RT_BLOCKS(b, \(outer.count)) {
                    const long long first = \(outer.source("b"));
                    \(type) value = \(start);
                    RT_STRIDED(j, \(inner.count)) value = \(combined("value", element));
                    const float all = \(combiner)(value);
                    RT_FIRST_THREAD p1[\(target.source("b"))] = \
                \(finished("all", count: inner.count));
                }
                """)
        ]
    }
}

/// A reduction that adds the elements.
private protocol DeviceSum: DeviceReduction {}

extension DeviceSum {
    fileprivate var type: String { "rt_sum" }
    fileprivate var start: String { "0.0f" }
    fileprivate func combined(_ value: String, _ element: String) -> String {
        "\(value) + \(element)"
    }
    fileprivate var combiner: String { "rt_block_sum" }
}

extension Sum: DeviceSum {
    fileprivate func finished(_ value: String, count: Int) -> String { value }
}

extension Mean: DeviceSum {
    fileprivate func finished(_ value: String, count: Int) -> String { "\(value) / \(count).0f" }
}

extension Max: DeviceReduction {
    fileprivate var type: String { "float" }
    fileprivate var start: String { "-RT_INFINITY" }
    fileprivate func combined(_ value: String, _ element: String) -> String {
        "rt_max(\(value), \(element))"
    }
    fileprivate var combiner: String { "rt_block_max" }
    fileprivate func finished(_ value: String, count: Int) -> String { value }
}

// MARK: Distributions

/// A block of threads for each fiber along the axis.
private func softmaxKernel(
    named name: String, along axis: Int, _ input: Buffer, _ output: Buffer, isLogarithm: Bool
) -> DeviceKernel {
    let shape = input.shape
    let axis = axis < 0 ? axis + shape.rank : axis
    let outer = View((0..<shape.rank).filter { $0 != axis }, of: shape)
    let place = "first + j * \(Layout.strides(shape)[axis])LL"
    let result =
        isLogarithm
        ? "p0[\(place)] - high - logf(sum)" : "expf(p0[\(place)] - high) / sum"
    return DeviceKernel(
        name: name, [input, output],
        """
        RT_BLOCKS(b, \(outer.count)) {
            const long long first = \(outer.source("b"));
            float high = -RT_INFINITY;
            rt_sum part = 0.0f;
            RT_STRIDED(j, \(shape[axis])) high = rt_max(high, p0[\(place)]);
            high = rt_block_max(high);
            RT_STRIDED(j, \(shape[axis])) part += expf(p0[\(place)] - high);
            const float sum = rt_block_sum(part);
            RT_STRIDED(j, \(shape[axis])) p1[\(place)] = \(result);
        }
        """)
}

extension Softmax: DeviceOperation {
    package func deviceKernels(
        named name: String, inputs: [Buffer], output: Buffer
    ) -> [DeviceKernel] {
        [softmaxKernel(named: name, along: axis, inputs[0], output, isLogarithm: false)]
    }
}

extension LogSoftmax: DeviceOperation {
    package func deviceKernels(
        named name: String, inputs: [Buffer], output: Buffer
    ) -> [DeviceKernel] {
        [softmaxKernel(named: name, along: axis, inputs[0], output, isLogarithm: true)]
    }
}

import RetintCompiler
import RetintGraph
import RetintTensors

/// Writes a value, in the order of memory, to some elements of another.
private func copyKernel(
    named name: String, _ input: Buffer, _ output: Buffer, to view: View
) -> DeviceKernel {
    DeviceKernel(
        name: name, [input, output],
        "RT_EACH(i, \(input.count)) p1[\(view.source())] = p0[i];")
}

private func fillKernel(named name: String, _ output: Buffer, with value: Float) -> DeviceKernel {
    let number = Formula(value).source([])
    return DeviceKernel(
        name: name, [output],
        "RT_EACH(i, \(output.count)) p0[i] = \(number);")
}

/// The elements of a value of `shape`, from `begin` on and `stride` apart, that have the shape
/// `part`.
private func view(
    of part: Shape, in shape: Shape, from begin: [Int], stride: [Int]? = nil
) -> View {
    Strides(shape).sliced(from: begin, stride: stride, shape: part).view
}

extension Concat: DeviceOperation {
    package func deviceKernels(
        named name: String, inputs: [Buffer], output: Buffer
    ) -> [DeviceKernel] {
        let axis = axis < 0 ? axis + output.shape.rank : axis
        var begin = [Int](repeating: 0, count: output.shape.rank)
        return inputs.enumerated().map { index, input in
            defer { begin[axis] += input.shape[axis] }
            return copyKernel(
                named: "\(name)_\(index)", input, output,
                to: view(of: input.shape, in: output.shape, from: begin))
        }
    }
}

extension Pad: DeviceOperation {
    package func deviceKernels(
        named name: String, inputs: [Buffer], output: Buffer
    ) -> [DeviceKernel] {
        [
            fillKernel(named: name, output, with: value),
            copyKernel(
                named: "\(name)_copy", inputs[0], output,
                to: view(of: inputs[0].shape, in: output.shape, from: before)),
        ]
    }
}

extension SliceScatter: DeviceOperation {
    package func deviceKernels(
        named name: String, inputs: [Buffer], output: Buffer
    ) -> [DeviceKernel] {
        [
            fillKernel(named: name, output, with: 0),
            copyKernel(
                named: "\(name)_copy", inputs[0], output,
                to: view(
                    of: inputs[0].shape, in: output.shape, from: slice.begin,
                    stride: slice.stride)),
        ]
    }
}

/// A copy in another order: element i of the result, in the order of memory, is that of a view.
private func gatherKernel(named name: String, _ view: View, _ input: Buffer, _ output: Buffer)
    -> DeviceKernel
{
    DeviceKernel(
        name: name, [input, output],
        "RT_EACH(i, \(output.count)) p1[i] = p0[\(view.source())];")
}

extension Transpose: DeviceOperation {
    package func deviceKernels(
        named name: String, inputs: [Buffer], output: Buffer
    ) -> [DeviceKernel] {
        let view = Strides(inputs[0].shape).permuted(permutation).view
        return [gatherKernel(named: name, view, inputs[0], output)]
    }
}

extension Slice: DeviceOperation {
    package func deviceKernels(
        named name: String, inputs: [Buffer], output: Buffer
    ) -> [DeviceKernel] {
        let view = view(of: output.shape, in: inputs[0].shape, from: begin, stride: stride)
        return [gatherKernel(named: name, view, inputs[0], output)]
    }
}

extension Broadcast: DeviceOperation {
    package func deviceKernels(
        named name: String, inputs: [Buffer], output: Buffer
    ) -> [DeviceKernel] {
        let view = Strides(inputs[0].shape).broadcast(to: output.shape).view
        return [gatherKernel(named: name, view, inputs[0], output)]
    }
}

extension Reshape: DeviceOperation {
    /// By way of row-major order, which both shapes share.
    package func deviceKernels(
        named name: String, inputs: [Buffer], output: Buffer
    ) -> [DeviceKernel] {
        let (from, to) = (Strides(inputs[0].shape).rowMajorView, Strides(output.shape).rowMajorView)
        return [
            DeviceKernel(
                name: name, [inputs[0], output],
                "RT_EACH(i, \(output.count)) p1[\(to.source())] = p0[\(from.source())];")
        ]
    }
}

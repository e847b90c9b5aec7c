import RetintCompiler
import RetintGraph
import RetintTensors

/// Writes a value, in the order of memory, to some elements of another.
private func copyKernel(_ input: Buffer, _ output: Buffer, to view: View) -> DeviceKernel {
    .each("copy", [input, output], input.count, "p1[\(view.source())] = p0[i];")
}

private func fillKernel(_ output: Buffer, with value: Float) -> DeviceKernel {
    .each("fill", [output], output.count, "p0[i] = \(Formula(value).source([]));")
}

/// The elements of a value of `shape`, from `begin` on and `stride` apart, that have the shape
/// `part`.
private func view(
    of part: Shape, in shape: Shape, from begin: [Int], stride: [Int]? = nil
) -> View {
    Strides(shape).sliced(from: begin, stride: stride, shape: part).view
}

extension Concat: DeviceOperation {
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let axis = axis < 0 ? axis + output.shape.rank : axis
        var begin = [Int](repeating: 0, count: output.shape.rank)
        return inputs.map { input in
            defer { begin[axis] += input.shape[axis] }
            return copyKernel(
                input, output,
                to: view(of: input.shape, in: output.shape, from: begin))
        }
    }
}

extension Pad: DeviceOperation {
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        [
            fillKernel(output, with: value),
            copyKernel(
                inputs[0], output,
                to: view(of: inputs[0].shape, in: output.shape, from: before)),
        ]
    }
}

extension SliceScatter: DeviceOperation {
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        [
            fillKernel(output, with: 0),
            copyKernel(
                inputs[0], output,
                to: view(
                    of: inputs[0].shape, in: output.shape, from: slice.begin,
                    stride: slice.stride)),
        ]
    }
}

/// A copy in another order: element i of the result, in the order of memory, is that of a view.
private func gatherKernel(_ view: View, _ input: Buffer, _ output: Buffer) -> DeviceKernel {
    .each("gather", [input, output], output.count, "p1[i] = p0[\(view.source())];")
}

extension Transpose: DeviceOperation {
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let view = Strides(inputs[0].shape).permuted(permutation).view
        return [gatherKernel(view, inputs[0], output)]
    }
}

extension Slice: DeviceOperation {
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let view = view(of: output.shape, in: inputs[0].shape, from: begin, stride: stride)
        return [gatherKernel(view, inputs[0], output)]
    }
}

extension Broadcast: DeviceOperation {
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let view = Strides(inputs[0].shape).broadcast(to: output.shape).view
        return [gatherKernel(view, inputs[0], output)]
    }
}

extension Reshape: DeviceOperation {
    /// By way of row-major order, which both shapes share.
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let (from, to) = (Strides(inputs[0].shape).rowMajorView, Strides(output.shape).rowMajorView)
        return [
            .each(
                "reshape", [inputs[0], output], output.count,
                "p1[\(to.source())] = p0[\(from.source())];")
        ]
    }
}

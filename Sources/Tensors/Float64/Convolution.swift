import RetintGraph
import RetintTensors

/// The patches of a picture that the windows of a convolution cover, as the columns of matrices.
///
/// The convolution, its transpose and its weight gradient are products with them.
private struct Patches {
    let picture: Shape
    let kernel: Shape
    let result: Shape
    let window: Window
    let groups: Int

    /// The number of elements of matrices that are in memory at once.
    private static let mostElements = 1 << 22

    /// The rows of a matrix: the picture's channels of one group at each tap.
    var height: Int { kernel[1] * kernel[2] * kernel[3] }
    /// The result's channels of one group.
    var outputs: Int { result[1] / groups }
    var resultPlane: Int { result[2] * result[3] }

    /// A matrix of patches: those of some rows of one group of a sample's result.
    struct Part {
        let sample: Int
        let group: Int
        let rows: Range<Int>
        /// The columns of the matrix.
        let width: Int
        /// Where the group's weights begin.
        let weights: Int
        /// Where the part of the result begins; its channels are a plane apart.
        let start: Int
    }

    func forEachPart(_ body: (Part, UnsafeMutablePointer<Double>) -> Void) {
        let most = max(1, Self.mostElements / max(1, height * result[3]))
        let size = height * min(most, result[2]) * result[3]
        let columns = UnsafeMutablePointer<Double>.allocate(capacity: max(1, size))
        defer { columns.deallocate() }
        for sample in 0..<result[0] {
            for group in 0..<groups {
                for row in stride(from: 0, to: result[2], by: most) {
                    let rows = row..<min(row + most, result[2])
                    let plane = sample * result[1] + group * outputs
                    body(
                        Part(
                            sample: sample, group: group, rows: rows,
                            width: rows.count * result[3], weights: group * outputs * height,
                            start: plane * resultPlane + row * result[3]),
                        columns)
                }
            }
        }
    }

    /// Calls `body` with the index of each element of the matrix and that of the picture, or nil
    /// where the window covers padding.
    @inline(__always)
    func forEachElement(of part: Part, _ body: (_ element: Int, _ place: Int?) -> Void) {
        var element = 0
        for channel in 0..<kernel[1] {
            let plane = part.sample * picture[1] + part.group * kernel[1] + channel
            for i in 0..<kernel[2] {
                for j in 0..<kernel[3] {
                    for y in part.rows {
                        let row =
                            y * window.stride.height - window.padding.top
                            + i * window.dilation.height
                        let isInside = row >= 0 && row < picture[2]
                        let start = (plane * picture[2] + row) * picture[3]
                        var column = j * window.dilation.width - window.padding.left
                        for _ in 0..<result[3] {
                            let isCovered = isInside && column >= 0 && column < picture[3]
                            body(element, isCovered ? start + column : nil)
                            element += 1
                            column += window.stride.width
                        }
                    }
                }
            }
        }
    }

    func gather(
        _ part: Part, from picture: UnsafePointer<Double>, _ columns: UnsafeMutablePointer<Double>
    ) {
        forEachElement(of: part) { element, place in
            columns[element] = place.map { picture[$0] } ?? 0
        }
    }
}

/// Zeros, or each channel's bias, to add to.
private func biased(_ shape: Shape, _ inputs: [Float64Array]) -> [Double] {
    guard inputs.count == 3 else { return zeros(shape) }
    let pixels = shape[2] * shape[3]
    return (0..<shape[0] * shape[1]).flatMap { plane in
        repeatElement(inputs[2][plane % shape[1]], count: pixels)
    }
}

/// The result of a function of the elements of two inputs that adds to `start`.
private func adding(
    to start: [Double], _ inputs: [Float64Array],
    _ body: (UnsafePointer<Double>, UnsafePointer<Double>, UnsafeMutablePointer<Double>) -> Void
) -> [Double] {
    var sum = start
    inputs[0].values.withUnsafeBufferPointer { x in
        inputs[1].values.withUnsafeBufferPointer { y in
            sum.withUnsafeMutableBufferPointer { sum in
                guard let x = x.baseAddress, let y = y.baseAddress, let sum = sum.baseAddress
                else { return }
                body(x, y, sum)
            }
        }
    }
    return sum
}

extension Convolution: SteppedOperation {
    func values(_ inputs: [Float64Array], shape: Shape, _ steps: Steps) -> [Double] {
        let patches = Patches(
            picture: inputs[0].shape, kernel: inputs[1].shape, result: shape, window: window,
            groups: groups)
        return adding(to: biased(shape, inputs), inputs) { x, weight, sum in
            patches.forEachPart { part, columns in
                patches.gather(part, from: x, columns)
                multiply(
                    Float64Matrix(pointer: weight + part.weights, stride: patches.height),
                    Float64Matrix(pointer: columns, stride: part.width),
                    rows: patches.outputs, inner: patches.height, columns: part.width,
                    addingTo: sum + part.start, stride: patches.resultPlane, steps)
            }
        }
    }
}

extension ConvolutionTranspose: SteppedOperation {
    func values(_ inputs: [Float64Array], shape: Shape, _ steps: Steps) -> [Double] {
        let patches = Patches(
            picture: shape, kernel: inputs[1].shape, result: inputs[0].shape, window: window,
            groups: groups)
        return adding(to: biased(shape, inputs), inputs) { y, weight, sum in
            patches.forEachPart { part, columns in
                columns.update(repeating: 0, count: patches.height * part.width)
                multiply(
                    Float64Matrix(
                        pointer: weight + part.weights, stride: patches.height,
                        isTransposed: true),
                    Float64Matrix(pointer: y + part.start, stride: patches.resultPlane),
                    rows: patches.height, inner: patches.outputs, columns: part.width,
                    addingTo: columns, stride: part.width, steps)
                patches.forEachElement(of: part) { element, place in
                    if let place { sum[place] = steps.added(sum[place], columns[element], place) }
                }
            }
        }
    }
}

extension ConvolutionWeightGradient: SteppedOperation {
    func values(_ inputs: [Float64Array], shape: Shape, _ steps: Steps) -> [Double] {
        let patches = Patches(
            picture: inputs[0].shape, kernel: shape, result: inputs[1].shape, window: window,
            groups: groups)
        return adding(to: zeros(shape), inputs) { x, dy, sum in
            patches.forEachPart { part, columns in
                patches.gather(part, from: x, columns)
                multiply(
                    Float64Matrix(pointer: dy + part.start, stride: patches.resultPlane),
                    Float64Matrix(pointer: columns, stride: part.width, isTransposed: true),
                    rows: patches.outputs, inner: part.width, columns: patches.height,
                    addingTo: sum + part.weights, stride: patches.height, steps)
            }
        }
    }
}

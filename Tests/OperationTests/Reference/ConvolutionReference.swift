import RetintGraph
import RetintTensors

/// Every product that a convolution sums, as indices into picture, kernel and result.
///
/// The convolution, its transpose and its weight gradient are the same products, gathered
/// by a different index.
private struct ConvolutionProducts {
    let picture: Shape
    let kernel: Shape
    let result: Shape
    let window: Window
    let groups: Int

    @inline(__always)
    func forEach(_ body: (_ picture: Int, _ kernel: Int, _ result: Int) -> Void) {
        for place in 0..<result.count {
            let (x, y) = (place % result[3], place / result[3] % result[2])
            let plane = place / (result[3] * result[2])
            let (channel, sample) = (plane % result[1], plane / result[1])
            let group = channel / (result[1] / groups)
            for inner in 0..<kernel[1] {
                let from = sample * picture[1] + group * kernel[1] + inner
                let to = channel * kernel[1] + inner
                forEachTap(x, y, from, to) { body($0, $1, place) }
            }
        }
    }

    @inline(__always)
    private func forEachTap(
        _ x: Int, _ y: Int, _ picturePlane: Int, _ kernelPlane: Int, _ body: (Int, Int) -> Void
    ) {
        for i in 0..<kernel[2] {
            let row = y * window.stride.height - window.padding.top + i * window.dilation.height
            guard row >= 0 && row < picture[2] else { continue }
            for j in 0..<kernel[3] {
                let column =
                    x * window.stride.width - window.padding.left + j * window.dilation.width
                guard column >= 0 && column < picture[3] else { continue }
                body(
                    (picturePlane * picture[2] + row) * picture[3] + column,
                    (kernelPlane * kernel[2] + i) * kernel[3] + j)
            }
        }
    }
}

/// Zeros, or each channel's bias, to add to.
private func biased(_ shape: Shape, _ inputs: [ReferenceArray]) -> [Double] {
    guard inputs.count == 3 else { return zeros(shape) }
    let pixels = shape[2] * shape[3]
    return (0..<shape.count).map { inputs[2][$0 / pixels % shape[1]] }
}

extension Convolution: ReferenceOperation {
    func reference(_ inputs: [ReferenceArray], shape: Shape) -> [Double] {
        let (x, weight) = (inputs[0].values, inputs[1].values)
        var sum = biased(shape, inputs)
        ConvolutionProducts(
            picture: inputs[0].shape, kernel: inputs[1].shape, result: shape, window: window,
            groups: groups
        ).forEach { sum[$2] += x[$0] * weight[$1] }
        return sum
    }
}

extension ConvolutionTranspose: ReferenceOperation {
    func reference(_ inputs: [ReferenceArray], shape: Shape) -> [Double] {
        let (y, weight) = (inputs[0].values, inputs[1].values)
        var sum = biased(shape, inputs)
        ConvolutionProducts(
            picture: shape, kernel: inputs[1].shape, result: inputs[0].shape, window: window,
            groups: groups
        ).forEach { sum[$0] += y[$2] * weight[$1] }
        return sum
    }
}

extension ConvolutionWeightGradient: ReferenceOperation {
    func reference(_ inputs: [ReferenceArray], shape: Shape) -> [Double] {
        let (x, dy) = (inputs[0].values, inputs[1].values)
        var sum = zeros(shape)
        ConvolutionProducts(
            picture: inputs[0].shape, kernel: shape, result: inputs[1].shape, window: window,
            groups: groups
        ).forEach { sum[$1] += x[$0] * dy[$2] }
        return sum
    }
}

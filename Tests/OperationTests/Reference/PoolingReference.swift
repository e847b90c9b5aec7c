import RetintGraph
import RetintTensors

/// The elements under each place of a pooling window, row by row; padding is left out.
private func windows(
    _ shape: Shape, _ pooled: Shape, _ kernel: Pair, _ window: Window
) -> [[Int]] {
    (0..<pooled.count).map { place in
        let (x, y) = (place % pooled[3], place / pooled[3] % pooled[2])
        let plane = place / (pooled[3] * pooled[2])
        return (0..<kernel.height * kernel.width).compactMap { tap in
            let (i, j) = (tap / kernel.width, tap % kernel.width)
            let row = y * window.stride.height - window.padding.top + i * window.dilation.height
            let column = x * window.stride.width - window.padding.left + j * window.dilation.width
            guard (0..<shape[2]).contains(row), (0..<shape[3]).contains(column) else { return nil }
            return (plane * shape[2] + row) * shape[3] + column
        }
    }
}

extension MaxPool: ReferenceOperation {
    func reference(_ inputs: [ReferenceArray], shape: Shape) -> [Double] {
        let x = inputs[0]
        return windows(x.shape, shape, kernel, window).map { $0.map { x[$0] }.max()! }
    }
}

extension MaxPoolGradient: ReferenceOperation {
    func reference(_ inputs: [ReferenceArray], shape: Shape) -> [Double] {
        let (x, dy) = (inputs[0], inputs[1])
        var dx = zeros(shape)
        for (place, elements) in windows(shape, dy.shape, pool.kernel, pool.window).enumerated() {
            let highest = elements.map { x[$0] }.max()!
            dx[elements.first { x[$0] == highest }!] += dy[place]
        }
        return dx
    }
}

extension AveragePool: ReferenceOperation {
    func reference(_ inputs: [ReferenceArray], shape: Shape) -> [Double] {
        windows(inputs[0].shape, shape, kernel, window).map { elements in
            elements.map { inputs[0][$0] }.reduce(0, +) / divisor(elements)
        }
    }

    fileprivate func divisor(_ elements: [Int]) -> Double {
        Double(countIncludePad ? kernel.height * kernel.width : elements.count)
    }
}

extension AveragePoolGradient: ReferenceOperation {
    func reference(_ inputs: [ReferenceArray], shape: Shape) -> [Double] {
        var dx = zeros(shape)
        let all = windows(shape, inputs[0].shape, pool.kernel, pool.window)
        for (place, elements) in all.enumerated() {
            for element in elements { dx[element] += inputs[0][place] / pool.divisor(elements) }
        }
        return dx
    }
}

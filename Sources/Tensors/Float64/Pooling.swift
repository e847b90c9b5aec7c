import RetintGraph
import RetintTensors

/// Calls `body` with each place of a pooling window and the elements under it, row by row; padding
/// is left out.
private func forEachWindow(
    _ shape: Shape, _ pooled: Shape, _ kernel: Pair, _ window: Window,
    _ body: (_ place: Int, _ elements: [Int]) -> Void
) {
    var elements: [Int] = []
    elements.reserveCapacity(kernel.height * kernel.width)
    for place in 0..<pooled.count {
        let (x, y) = (place % pooled[3], place / pooled[3] % pooled[2])
        let plane = place / (pooled[3] * pooled[2])
        elements.removeAll(keepingCapacity: true)
        for i in 0..<kernel.height {
            let row = y * window.stride.height - window.padding.top + i * window.dilation.height
            guard row >= 0, row < shape[2] else { continue }
            for j in 0..<kernel.width {
                let column =
                    x * window.stride.width - window.padding.left + j * window.dilation.width
                guard column >= 0, column < shape[3] else { continue }
                elements.append((plane * shape[2] + row) * shape[3] + column)
            }
        }
        body(place, elements)
    }
}

extension MaxPool: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        let x = inputs[0]
        var result = zeros(shape)
        forEachWindow(x.shape, shape, kernel, window) { place, elements in
            result[place] = elements.reduce(-.infinity) { larger($0, x[$1]) }
        }
        return result
    }
}

extension MaxPoolGradient: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        let (x, dy) = (inputs[0], inputs[1])
        var dx = zeros(shape)
        forEachWindow(shape, dy.shape, pool.kernel, pool.window) { place, elements in
            let highest = elements.reduce(-.infinity) { larger($0, x[$1]) }
            let first = elements.first { x[$0] == highest || x[$0].isNaN && highest.isNaN }
            if let first { dx[first] += dy[place] }
        }
        return dx
    }
}

extension AveragePool: SteppedOperation {
    func values(_ inputs: [Float64Array], shape: Shape, _ steps: Steps) -> [Double] {
        let x = inputs[0]
        var result = zeros(shape)
        // Windows at the borders have fewer elements.
        var plan = steps.plan(kernel.height * kernel.width)
        forEachWindow(x.shape, shape, kernel, window) { place, elements in
            if plan.termCount != elements.count { plan = steps.plan(elements.count) }
            let sum = steps.sum(plan, at: place) { x[elements[$0]] }
            result[place] = steps.rounded(sum / divisor(elements), at: place)
        }
        return result
    }

    fileprivate func divisor(_ elements: [Int]) -> Double {
        Double(countIncludePad ? kernel.height * kernel.width : elements.count)
    }
}

extension AveragePoolGradient: Float64Operation {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        let dy = inputs[0]
        var dx = zeros(shape)
        forEachWindow(shape, dy.shape, pool.kernel, pool.window) { place, elements in
            for element in elements { dx[element] += dy[place] / pool.divisor(elements) }
        }
        return dx
    }
}

package import RetintTensors

/// An operation whose cost is counted in multiply-adds.
package protocol MultiplyAddCounting: Operation {
    /// The number of multiply-adds for inputs and a result of these shapes, at most `Int.max`.
    func multiplyAdds(_ inputs: [Shape], _ output: Shape) -> Int
}

/// The multiply-adds of the convolutions and matrix products that `outputs` need. As usual,
/// elementwise operations, pooling and biases are not counted.
public func multiplyAdds(of outputs: [Tensor]) -> Int {
    guard let graph = outputs.first?.graph else { return 0 }
    return graph.live(from: outputs.map(\.id)).reduce(0) { total, id in
        let node = graph.nodes[id]
        let shapes = node.inputs.map { graph.nodes[$0].shape }
        let counting = node.operation as? any MultiplyAddCounting
        return total.addingClamped(counting?.multiplyAdds(shapes, node.shape) ?? 0)
    }
}

/// The product of counts, or `Int.max` if it is larger: shapes are bounded one by one.
private func product(_ count: Int, _ factors: Int...) -> Int {
    factors.reduce(count) { product, factor in
        let (result, overflow) = product.multipliedReportingOverflow(by: factor)
        return overflow ? .max : result
    }
}

extension Int {
    /// The sum of two counts, or `Int.max` if it is larger.
    fileprivate func addingClamped(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

extension Convolution: MultiplyAddCounting {
    package func multiplyAdds(_ inputs: [Shape], _ output: Shape) -> Int {
        product(output.count, inputs[1][1], inputs[1][2], inputs[1][3])
    }
}

extension ConvolutionTranspose: MultiplyAddCounting {
    package func multiplyAdds(_ inputs: [Shape], _ output: Shape) -> Int {
        product(inputs[0].count, inputs[1][1], inputs[1][2], inputs[1][3])
    }
}

extension ConvolutionWeightGradient: MultiplyAddCounting {
    package func multiplyAdds(_ inputs: [Shape], _ output: Shape) -> Int {
        product(inputs[1].count, output[1], output[2], output[3])
    }
}

extension MatMul: MultiplyAddCounting {
    package func multiplyAdds(_ inputs: [Shape], _ output: Shape) -> Int {
        product(output.count, inputs[0][transposeX ? -2 : -1])
    }
}

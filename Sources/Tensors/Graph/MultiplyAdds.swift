package import RetintTensors

/// An operation whose cost is counted in multiply-adds.
package protocol MultiplyAddCounting: Operation {
    /// The number of multiply-adds for inputs and a result of these shapes.
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
        return total + (counting?.multiplyAdds(shapes, node.shape) ?? 0)
    }
}

extension Convolution: MultiplyAddCounting {
    package func multiplyAdds(_ inputs: [Shape], _ output: Shape) -> Int {
        output.count * inputs[1][1] * inputs[1][2] * inputs[1][3]
    }
}

extension ConvolutionTranspose: MultiplyAddCounting {
    package func multiplyAdds(_ inputs: [Shape], _ output: Shape) -> Int {
        inputs[0].count * inputs[1][1] * inputs[1][2] * inputs[1][3]
    }
}

extension ConvolutionWeightGradient: MultiplyAddCounting {
    package func multiplyAdds(_ inputs: [Shape], _ output: Shape) -> Int {
        inputs[1].count * output[1] * output[2] * output[3]
    }
}

extension MatMul: MultiplyAddCounting {
    package func multiplyAdds(_ inputs: [Shape], _ output: Shape) -> Int {
        output.count * inputs[0][transposeX ? -2 : -1]
    }
}

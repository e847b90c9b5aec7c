package import RetintTensors

/// An operation whose work is not in proportion to its inputs and its result.
package protocol WorkCounting: Operation {
    /// The work for inputs and a result of these shapes, in multiply-adds of a convolution.
    func work(_ inputs: [Shape], _ output: Shape) -> Double
}

extension Graph {
    /// The work for each element of the inputs and the result of other operations, which depend on
    /// memory more than on arithmetic.
    private static let elementWork = 8.0
    /// The same on a single thread, without vector instructions.
    private static let hostWork = 256.0

    /// Roughly how long a run takes, in multiply-adds of convolutions; and the node among these
    /// that takes the longest.
    ///
    /// It may be more than an `Int` holds: a file of a few kilobytes can describe work for years.
    package func work(of outputs: [Tensor]) -> (total: Double, longest: Node?) {
        var (total, most, longest) = (0.0, 0.0, Node?.none)
        for id in live(from: outputs.map(\.id)) {
            let work = work(of: id)
            total += work
            if work > most { (most, longest) = (work, nodes[id]) }
        }
        return (total, longest)
    }

    /// The work of a node.
    package func work(of id: Int) -> Double {
        let node = nodes[id]
        guard !node.inputs.isEmpty else { return 0 }
        let shapes = node.inputs.map { nodes[$0].shape }
        let elements = shapes.reduce(node.shape.work) { $0 + $1.work }
        return switch node.operation {
        case let operation as any MultiplyAddCounting:
            Double(operation.multiplyAdds(shapes, node.shape)) + elements
        case let operation as any WorkCounting: operation.work(shapes, node.shape)
        case is any HostOperation: Self.hostWork * elements
        default: Self.elementWork * elements
        }
    }
}

extension Shape {
    /// The number of elements.
    fileprivate var work: Double { Double(count) }
}

// Each element of a window is compared or added.

/// The work for each element of a window that is not a product.
private let windowWork = 4.0

extension MaxPool: WorkCounting {
    package func work(_ inputs: [Shape], _ output: Shape) -> Double {
        windowWork * Double(output.count) * Double(kernel.height) * Double(kernel.width)
    }
}

extension AveragePool: WorkCounting {
    package func work(_ inputs: [Shape], _ output: Shape) -> Double {
        windowWork * Double(output.count) * Double(kernel.height) * Double(kernel.width)
    }
}

extension TopIndices: WorkCounting {
    /// Sorting takes the logarithm of the axis for each element.
    package func work(_ inputs: [Shape], _ output: Shape) -> Double {
        let bits = Double(Int.bitWidth - inputs[0][axis].leadingZeroBitCount)
        return 256 * Double(inputs[0].count) * bits
    }
}

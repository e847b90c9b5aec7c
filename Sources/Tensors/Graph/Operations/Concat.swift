package import RetintTensors

/// Tensors joined along an axis (`torch.cat`).
package struct Concat: Operation {
    package static let name = "concat"
    package let axis: Int

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try require(!inputs.isEmpty, "needs at least one input")
        var result = inputs[0]
        let axis = try normalizedAxes([axis], rank: result.rank)[0]
        for other in inputs.dropFirst() {
            try require(other.rank == result.rank, "inputs must have the same rank")
            for index in 0..<result.rank where index != axis {
                try require(
                    other[index] == result[index], "inputs may differ only along axis \(axis)")
            }
            result[axis] += other[axis]
        }
        return result
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        var start = 0
        return backward.inputs.enumerated().map { index, input in
            let range = start..<(start + input.shape[axis])
            start = range.upperBound
            return backward.ifNeeded(index) { backward.gradient.sliced(axis: axis, range) }
        }
    }
}

/// Joins `tensors` along `axis`; at least one is needed.
public func concat(_ tensors: [Tensor], axis: Int) -> Tensor {
    precondition(!tensors.isEmpty, "concat needs at least one tensor")
    return tensors[0].graph.apply(Concat(axis: axis), tensors)
}

/// Selecting elements of an axis in any order, by slicing.
package enum Picking {
    /// The maximum number of indices, since each may need a separate slice.
    package static let maximumCount = 4096
}

extension Tensor {
    /// The elements at `indices` of an axis, in that order. Consecutive indices share one slice.
    package func picked(_ indices: some Sequence<Int>, axis: Int) -> Tensor {
        var runs: [Range<Int>] = []
        for index in indices {
            if let last = runs.last, last.upperBound == index {
                runs[runs.count - 1] = last.lowerBound..<(index + 1)
            } else {
                runs.append(index..<(index + 1))
            }
        }
        if runs == [0..<shape[axis]] { return self }
        let parts = runs.map { sliced(axis: axis, $0) }
        return parts.count == 1 ? parts[0] : concat(parts, axis: axis)
    }
}

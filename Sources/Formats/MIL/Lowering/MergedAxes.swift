import RetintTensors

/// A transpose with as few axes as possible: axes of one element are left out, and axes that stay
/// neighbors become one. The order of the elements is the same.
struct MergedAxes {
    /// The merged shape of the operand.
    let operand: Shape
    /// The order of the operand's merged axes in the result.
    let permutation: [Int]

    /// - Parameters:
    ///   - shape: the operand's shape.
    ///   - permutation: for each axis of the result, the operand's axis.
    init(_ shape: Shape, _ permutation: [Int]) {
        let kept = shape.dimensions.indices.filter { shape[$0] != 1 }
        let order = permutation.filter(kept.contains).map { kept.firstIndex(of: $0) ?? 0 }
        // Runs of axes that follow each other in the operand and in the result.
        var runs: [Range<Int>] = []
        for axis in order {
            if let last = runs.last, last.upperBound == axis {
                runs[runs.count - 1] = last.lowerBound..<axis + 1
            } else {
                runs.append(axis..<axis + 1)
            }
        }
        let sorted = runs.sorted { $0.lowerBound < $1.lowerBound }
        operand = Shape(sorted.map { run in run.reduce(1) { $0 * shape[kept[$1]] } })
        self.permutation = runs.map { run in sorted.firstIndex(of: run) ?? 0 }
    }
}

/// Selects the elements of a weight to keep: those with the highest scores.
struct Pruning {
    let shape: [Int]
    let axes: (output: Int, input: Int)
    /// The score of each element: its square, or its effect on the output.
    let scores: [Float]

    /// Whether each element is kept.
    func kept(_ scheme: QuantizationScheme) -> [Bool] {
        let axis = scheme.pruningAxis == .output ? axes.output : axes.input
        switch scheme.pruning {
        case .single: return kept(share: scheme.sparsity, of: scores)
        case .blocks(let size):
            let sums = sums(ofRuns: size, along: axis)
            guard let limit = limit(share: scheme.sparsity, of: sums) else {
                return sums.map { _ in true }
            }
            // All elements of a block share one sum, so it is removed as a whole.
            return sums.map { $0 > limit }
        case .ratio(let zeros, let count): return kept(zeros: zeros, of: count, along: axis)
        }
    }

    /// Unstructured pruning: removes the given share of elements with the lowest scores.
    private func kept(share: Double, of scores: [Float]) -> [Bool] {
        guard let limit = limit(share: share, of: scores) else { return scores.map { _ in true } }
        var dropped = count(share, of: scores) - scores.count { $0 < limit }
        // Of the elements with exactly this score, the first ones are removed.
        return scores.map { score in
            guard score == limit, dropped > 0 else { return score >= limit }
            dropped -= 1
            return false
        }
    }

    private func count(_ share: Double, of scores: [Float]) -> Int {
        Int((share * Double(scores.count)).rounded())
    }

    /// The highest score to be removed; nil if nothing is removed.
    private func limit(share: Double, of scores: [Float]) -> Float? {
        let dropped = count(share, of: scores)
        return dropped > 0 ? scores.sorted()[dropped - 1] : nil
    }

    /// For each element, the sum of the scores in its block; the last block may be shorter.
    private func sums(ofRuns size: Int, along axis: Int) -> [Float] {
        var result = scores
        forEachRun(of: size, along: axis) { indices in
            let sum = indices.reduce(Float(0)) { $0 + scores[$1] }
            for index in indices { result[index] = sum }
        }
        return result
    }

    /// n:m sparsity: removes the `zeros` lowest of every `count` neighbors. A shorter last group is
    /// padded with zeros, which count as removed.
    private func kept(zeros: Int, of count: Int, along axis: Int) -> [Bool] {
        var kept = [Bool](repeating: true, count: scores.count)
        forEachRun(of: count, along: axis) { indices in
            let dropped = zeros - (count - indices.count)
            let sorted = indices.sorted { (scores[$0], $0) < (scores[$1], $1) }
            for index in sorted.prefix(max(dropped, 0)) { kept[index] = false }
        }
        return kept
    }

    /// Calls `body` with the element indices of each run of `size` neighbors along an axis.
    private func forEachRun(of size: Int, along axis: Int, _ body: ([Int]) -> Void) {
        let step = shape[(axis + 1)...].reduce(1, *)
        let extent = shape[axis]
        for start in 0..<scores.count where start / step % extent % size == 0 {
            let length = min(size, extent - start / step % extent)
            body((0..<length).map { start + $0 * step })
        }
    }
}

/// Which numbers of a weight stay: those that matter the most.
struct Pruning {
    let shape: [Int]
    let axes: (output: Int, input: Int)
    /// What each number matters: its square, or what it does to the output.
    let scores: [Float]

    func kept(_ scheme: QuantizationScheme) -> [Bool] {
        let axis = scheme.pruningAxis == .output ? axes.output : axes.input
        switch scheme.pruning {
        case .single: return kept(share: scheme.sparsity, of: scores)
        case .blocks(let size):
            let sums = sums(ofRuns: size, along: axis)
            guard let limit = limit(share: scheme.sparsity, of: sums) else {
                return sums.map { _ in true }
            }
            // A block goes as a whole.
            return sums.map { $0 > limit }
        case .ratio(let zeros, let count): return kept(zeros: zeros, of: count, along: axis)
        }
    }

    /// All but a share of the numbers, the least of them.
    private func kept(share: Double, of scores: [Float]) -> [Bool] {
        guard let limit = limit(share: share, of: scores) else { return scores.map { _ in true } }
        var dropped = count(share, of: scores) - scores.count { $0 < limit }
        // Of those that are equal to the limit, the first ones go.
        return scores.map { score in
            guard score == limit, dropped > 0 else { return score >= limit }
            dropped -= 1
            return false
        }
    }

    private func count(_ share: Double, of scores: [Float]) -> Int {
        Int((share * Double(scores.count)).rounded())
    }

    /// The greatest score that has to go; nil where none has.
    private func limit(share: Double, of scores: [Float]) -> Float? {
        let dropped = count(share, of: scores)
        return dropped > 0 ? scores.sorted()[dropped - 1] : nil
    }

    /// Of each number, what its block matters; the last block of a row may be shorter.
    private func sums(ofRuns size: Int, along axis: Int) -> [Float] {
        var result = scores
        forEachRun(of: size, along: axis) { places in
            let sum = places.reduce(Float(0)) { $0 + scores[$1] }
            for place in places { result[place] = sum }
        }
        return result
    }

    /// Of every `count` neighbors the `zeros` least go. A shorter rest is filled up with zeros, which
    /// count among them.
    private func kept(zeros: Int, of count: Int, along axis: Int) -> [Bool] {
        var kept = [Bool](repeating: true, count: scores.count)
        forEachRun(of: count, along: axis) { places in
            let dropped = zeros - (count - places.count)
            let sorted = places.sorted { (scores[$0], $0) < (scores[$1], $1) }
            for place in sorted.prefix(max(dropped, 0)) { kept[place] = false }
        }
        return kept
    }

    /// Calls with the places of each run of `size` neighbors along an axis.
    private func forEachRun(of size: Int, along axis: Int, _ body: ([Int]) -> Void) {
        let step = shape[(axis + 1)...].reduce(1, *)
        let extent = shape[axis]
        for start in 0..<scores.count where start / step % extent % size == 0 {
            let length = min(size, extent - start / step % extent)
            body((0..<length).map { start + $0 * step })
        }
    }
}

import RetintMLPackage
import RetintVerification

extension ModelDiff.Weights {
    /// - Throws: the errors of reading weights.
    init(_ first: [WeightSource], _ second: [WeightSource]) throws {
        let pairing = try WeightPairing(first, second)
        pairs = try pairing.pairs.map { try ModelDiff.WeightPair(first[$0], second[$1]) }
        func only(_ indices: [Int], of sources: [WeightSource]) throws -> [ModelDiff.Weight] {
            try indices.map { sources[$0] }.filter { try !$0.mayBeLeftOut }.map(\.weight)
        }
        onlyFirst = try only(pairing.restOfFirst, of: first)
        onlySecond = try only(pairing.restOfSecond, of: second)
    }
}

extension WeightSource {
    /// Whether converters leave it out, or merge it with others: a number is an operand of
    /// arithmetic, which is compared as such, and weights that were not trained, as of a
    /// normalization or a PReLU, are all the same number.
    fileprivate var mayBeLeftOut: Bool {
        get throws {
            guard !weight.shape.allSatisfy({ $0 == 1 }) else { return true }
            let values = try read()
            return values.allSatisfy { $0 == values[0] }
        }
    }
}

extension ModelDiff.WeightPair {
    /// The largest error, relative to the largest value, of the order in which a converter folds
    /// normalizations into weights: some units in the last place of float32.
    private static let foldedError = 1e-6

    init(_ first: WeightSource, _ second: WeightSource) throws {
        (self.first, self.second) = (first.weight, second.weight)
        guard first.shape == second.shape else {
            let isReordered = first.shape.sorted() == second.shape.sorted()
            let (a, b) = try isReordered ? (first.read(), second.read()) : ([], [])
            order = isReordered ? WeightOrder(first, second).text(a, b) : nil
            relation = order == nil ? .reshaped : .reordered
            (error, relativeError) = (nil, nil)
            return
        }
        let (a, b) = (try first.read(), try second.read())
        guard !areSame(a, b) else {
            (relation, order, error, relativeError) = (.same, nil, nil, nil)
            return
        }
        let largest = a.reduce(0) { max($0, Double(abs($1))) }
        let error = VerificationReport.ErrorMetrics(
            computed: b, expected: a, peak: max(largest, .leastNormalMagnitude))
        let relative = largest > 0 ? error.maxAbs / largest : .infinity
        let isRounded =
            relative <= Self.foldedError
            || WeightRounding(first, second)?.explains(a, b) ?? false
        order = isRounded ? nil : WeightOrder(first, second).text(a, b)
        relation = isRounded ? .rounded : order == nil ? .changed : .reordered
        // The error of values in another order says nothing.
        self.error = order == nil ? error : nil
        relativeError = order == nil ? relative : nil
    }
}

/// Whether all values are equal; NaN equals itself.
private func areSame(_ a: [Float], _ b: [Float]) -> Bool {
    a.count == b.count && zip(a, b).allSatisfy { $0 == $1 || $0.isNaN && $1.isNaN }
}

private func halved(_ values: [Float]) -> [Float] {
    HalfPrecision.floats(HalfPrecision.halfs(values))
}

/// The order of values in two weights.
private struct WeightOrder {
    private var shape: [Int]
    private var other: [Int]

    /// More axes have too many orders to try.
    private static let mostAxes = 4

    init(_ first: WeightSource, _ second: WeightSource) {
        (shape, other) = (first.weight.shape, second.weight.shape)
        if shape.count != other.count { (shape, other) = (first.shape, second.shape) }
    }

    /// How the values of `a` become those of `b`: by a permutation of the axes, or by reversing
    /// one; nil if neither does.
    func text(_ a: [Float], _ b: [Float]) -> String? {
        guard shape.count <= Self.mostAxes, a.count == b.count, a.count > 1 else { return nil }
        let (a, b) = (halved(a), halved(b))
        guard WeightPrint(a).elements == WeightPrint(b).elements else { return nil }
        let own = strides(shape)
        let orders = permutations(Array(shape.indices)).dropFirst()
        for axes in orders where axes.map({ shape[$0] }) == other {
            let places = positions(other, axes.map { own[$0] }, from: 0)
            if matches(a, places, b) { return "axes \(axes)" }
        }
        guard shape == other else { return nil }
        for axis in shape.indices {
            var steps = own
            steps[axis].negate()
            let start = (shape[axis] - 1) * own[axis]
            if matches(a, positions(shape, steps, from: start), b) {
                return "reversed along axis \(axis)"
            }
        }
        return nil
    }

    private func matches(_ a: [Float], _ positions: [Int], _ b: [Float]) -> Bool {
        zip(positions, b).allSatisfy { a[$0] == $1 || a[$0].isNaN && $1.isNaN }
    }

    /// The positions of all elements in row-major order, for steps along the axes.
    private func positions(_ shape: [Int], _ steps: [Int], from start: Int) -> [Int] {
        zip(shape, steps).reduce([start]) { positions, axis in
            positions.flatMap { position in (0..<axis.0).map { position + $0 * axis.1 } }
        }
    }

    private func strides(_ shape: [Int]) -> [Int] {
        var strides = [Int](repeating: 1, count: shape.count)
        for axis in shape.indices.dropLast().reversed() {
            strides[axis] = strides[axis + 1] * shape[axis + 1]
        }
        return strides
    }

    private func permutations(_ axes: [Int]) -> [[Int]] {
        guard axes.count > 1 else { return [axes] }
        return axes.indices.flatMap { index -> [[Int]] in
            var rest = axes
            let first = rest.remove(at: index)
            return permutations(rest).map { [first] + $0 }
        }
    }
}

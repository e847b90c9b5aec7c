import Foundation
import RetintMLPackage

extension ValueHistogram {
    /// The range of a scheme.
    func range(_ scheme: ActivationScheme) -> ClosedRange<Float> {
        switch scheme.range {
        case .minmax: low...high
        case .percentile(let share): percentile(share / 100)
        case .mse: leastError(scheme)
        case .entropy: leastDivergence(scheme)
        }
    }

    // MARK: Percentile

    /// The range that holds this share of the numbers; as much is cut at the lower end as at the
    /// upper one.
    private func percentile(_ share: Double) -> ClosedRange<Float> {
        let total = Double(counts.reduce(zeros, +))
        let cut = (1 - share) / 2 * total
        guard let first = edge(counts.indices, cut), let last = edge(counts.indices.reversed(), cut)
        else { return low...high }
        let bottom = max(center(first) - width / 2, low)
        let top = min(center(last) + width / 2, high)
        return min(bottom, 0)...max(top, 0)
    }

    /// The first interval with which more than `cut` numbers are passed.
    private func edge(_ indices: some Sequence<Int>, _ cut: Double) -> Int? {
        var passed = 0.0
        let middle = counts.count / 2
        for index in indices {
            if index == middle { passed += Double(zeros) }
            passed += Double(counts[index])
            if passed > cut { return index }
        }
        return nil
    }

    // MARK: Mean square error

    /// The range with the least mean square error, among ranges that are shrunk at both ends.
    private func leastError(_ scheme: ActivationScheme) -> ClosedRange<Float> {
        candidates(scheme).min { error(of: $0, scheme) < error(of: $1, scheme) } ?? low...high
    }

    private func error(of range: ClosedRange<Float>, _ scheme: ActivationScheme) -> Double {
        power(on: AffineGrid(scheme, range)).noise
    }

    /// The sums of the squares of the numbers, and of their errors on a grid.
    func power(on grid: AffineGrid) -> (signal: Double, noise: Double) {
        var power = (signal: 0.0, noise: 0.0)
        for index in counts.indices where counts[index] > 0 {
            let value = center(index)
            let error = Double(value - grid.value(of: grid.code(nearest: value, block: 0), block: 0))
            power.noise += Double(counts[index]) * error * error
            power.signal += Double(counts[index]) * Double(value) * Double(value)
        }
        return power
    }

    /// Ranges that are shrunk at both ends, the whole one first. Symmetric ranges are shrunk at
    /// both ends alike.
    private func candidates(_ scheme: ActivationScheme) -> [ClosedRange<Float>] {
        let factors = (0..<60).map { pow(0.95, Float($0) / 1.2) }
        if scheme.mode == .symmetric {
            let bound = max(-low, high)
            return factors.map { -bound * $0...bound * $0 }
        }
        let few = stride(from: 0, to: factors.count, by: 4).map { factors[$0] }
        let lower = low < 0 ? few : [1]
        let upper = high > 0 ? (low < 0 ? few : factors) : [1]
        return lower.flatMap { first in upper.map { low * first...high * $0 } }
    }

    // MARK: Kullback-Leibler divergence

    /// The range whose codes have the distribution that is closest to that of the numbers.
    private func leastDivergence(_ scheme: ActivationScheme) -> ClosedRange<Float> {
        candidates(scheme).min { divergence(of: $0, scheme) < divergence(of: $1, scheme) }
            ?? low...high
    }

    /// The divergence between the numbers within a range, with those outside at its ends, and the
    /// same numbers when those with one code are spread evenly over the intervals that have any.
    private func divergence(of range: ClosedRange<Float>, _ scheme: ActivationScheme) -> Double {
        let grid = AffineGrid(scheme, range)
        let inside = counts.indices.filter { range.contains(center($0)) }
        guard let first = inside.first, let last = inside.last else { return .infinity }
        var clipped = inside.map { Double(counts[$0]) }
        clipped[0] += counts[..<first].reduce(0) { $0 + Double($1) }
        clipped[clipped.count - 1] += counts[(last + 1)...].reduce(0) { $0 + Double($1) }
        var sums: [Int32: (count: Double, intervals: Double)] = [:]
        let codes = inside.map { grid.code(nearest: center($0), block: 0) }
        for (code, index) in zip(codes, inside) where counts[index] > 0 {
            sums[code, default: (0, 0)].count += Double(counts[index])
            sums[code, default: (0, 0)].intervals += 1
        }
        let total = clipped.reduce(0, +)
        let kept = sums.values.reduce(0) { $0 + $1.count }
        guard total > 0, kept > 0 else { return .infinity }
        var divergence = 0.0
        for (position, code) in codes.enumerated() where clipped[position] > 0 {
            let share = clipped[position] / total
            let spread = sums[code].map { $0.count / max($0.intervals, 1) / kept } ?? 0
            let isEmpty = counts[inside[position]] == 0
            divergence += share * log(share / (isEmpty ? 1e-9 : max(spread, 1e-9)))
        }
        return divergence
    }
}

extension AffineGrid {
    /// The integers of a value with this range.
    ///
    /// - Parameter precision: the data type of the value, and so of the scale.
    init(
        _ scheme: ActivationScheme, _ range: ClosedRange<Float>,
        precision: MILDataType = .float32
    ) {
        self.init(
            [range.lowerBound, range.upperBound], WeightBlocks(shape: [2], groups: [1]),
            as: scheme.dataType, mode: scheme.mode, precision: precision)
    }
}

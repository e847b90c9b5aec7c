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

    /// The range with the least mean square error.
    private func leastError(_ scheme: ActivationScheme) -> ClosedRange<Float> {
        best(scheme) { error(of: $0, scheme) }
    }

    private func error(of range: ClosedRange<Float>, _ scheme: ActivationScheme) -> Double {
        power(on: AffineGrid(scheme, range)).noise
    }

    /// The sums of the squares of the numbers, and of their errors on a grid.
    func power(on grid: AffineGrid) -> (signal: Double, noise: Double) {
        var power = (signal: 0.0, noise: 0.0)
        for index in counts.indices where counts[index] > 0 {
            let value = center(index)
            let error = Double(
                value - grid.value(of: grid.code(nearest: value, block: 0), block: 0))
            power.noise += Double(counts[index]) * error * error
            power.signal += Double(counts[index]) * Double(value) * Double(value)
        }
        return power
    }

    /// The range with the least cost, among those that are shrunk at both ends alike. Unless they
    /// are symmetric, one end after the other is then moved until that does not help.
    private func best(
        _ scheme: ActivationScheme, _ cost: (ClosedRange<Float>) -> Double
    ) -> ClosedRange<Float> {
        let isSymmetric = scheme.mode == .symmetric
        let bound = max(-low, high)
        let whole = isSymmetric ? -bound...bound : low...high
        var (found, least) = (whole, cost(whole))
        func improve(_ ranges: [ClosedRange<Float>]) {
            for range in ranges {
                let own = cost(range)
                if own < least { (found, least) = (range, own) }
            }
        }
        improve(Self.factors.map { whole.lowerBound * $0...whole.upperBound * $0 })
        guard !isSymmetric else { return found }
        for _ in 0..<4 {
            let before = least
            let lower = low < 0 ? Self.factors.map { low * $0...found.upperBound } : []
            improve(lower)
            let upper = high > 0 ? Self.factors.map { found.lowerBound...high * $0 } : []
            improve(upper)
            guard least < before else { break }
        }
        return found
    }

    /// From 1 to 0.2 in equal steps, then in equal ratios.
    private static let factors =
        (0...80).map { 1 - Float($0) / 100 } + (1...12).map { 0.2 * pow(0.85, Float($0)) }

    // MARK: Kullback-Leibler divergence

    /// The range whose codes have the distribution that is closest to that of the numbers.
    private func leastDivergence(_ scheme: ActivationScheme) -> ClosedRange<Float> {
        best(scheme) { divergence(of: $0, scheme) }
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
        self =
            AffineGrid(
                [range.lowerBound, range.upperBound], WeightBlocks(shape: [2], groups: [1]),
                as: scheme.dataType, mode: scheme.mode, precision: precision
            ).withAllCodes
    }
}

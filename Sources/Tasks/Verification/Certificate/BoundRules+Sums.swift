import Glibc
import RetintGraph
import RetintTensors

/// The sums of a channel's weights over the taps of a kernel: of the positive ones, of the negative
/// ones, and of all magnitudes.
struct TapSums {
    private var positive = 0.0
    private var negative = 0.0

    init() {}

    /// The sums of a single weight.
    init(_ weight: Double) { add(weight) }

    var magnitude: Double { positive - negative }

    mutating func add(_ weight: Double) {
        if weight > 0 { positive += weight } else { negative += weight }
    }

    func interval(_ x: Interval) -> Interval {
        func product(_ weight: Double, _ bound: Double) -> Double {
            weight == 0 || bound == 0 ? 0 : weight * bound
        }
        return Interval(
            product(positive, x.lower) + product(negative, x.upper),
            product(positive, x.upper) + product(negative, x.lower))
    }
}

/// A sum of products of weights with bounded numbers.
struct WeightedSum {
    private var exact = (lower: 0.0, upper: 0.0)
    private var computed = (lower: 0.0, upper: 0.0)
    private var error = 0.0
    private(set) var magnitude = 0.0

    init(bias: Double = 0) {
        exact = (bias, bias)
        computed = (bias, bias)
        magnitude = abs(bias)
    }

    mutating func add(_ sums: TapSums, _ x: Bound) {
        let (first, second) = (sums.interval(x.exact), sums.interval(x.computed))
        exact = (exact.lower + first.lower, exact.upper + first.upper)
        computed = (computed.lower + second.lower, computed.upper + second.upper)
        guard sums.magnitude > 0 else { return }
        error += sums.magnitude * x.error
        magnitude += sums.magnitude * x.both.magnitude
    }

    var bound: Bound {
        Bound(
            exact: Interval(exact.lower, exact.upper),
            computed: Interval(computed.lower, computed.upper), error: error)
    }
}

extension Bound {
    /// The same bound of a sum that is a mean of weights, up to an error of the shares.
    fileprivate func asMean(of weights: [Double], bias: Double, _ shares: Double) -> Bound {
        guard let low = weights.min(), let high = weights.max() else { return self }
        let mean = Interval(low, high)
        let margin = mean.magnitude * (shares + Double(weights.count) * 0x1p-50)
        let own = mean.widened(by: mean.magnitude * Double(weights.count) * 0x1p-50)
        return Bound(
            exact: exact.intersection(own + Interval(bias)),
            computed: computed.intersection(mean.widened(by: margin) + Interval(bias)),
            error: error)
    }
}

// MARK: Convolutions

extension BoundRules {
    /// With padding, a window may cover zeros.
    private func covered(_ operand: BoundArray, padded: Bool) -> BoundArray {
        let perChannel = operand.perChannel
        return padded ? perChannel.map { $0.hull(Bound(0)) } : perChannel
    }

    private func bias(_ channel: Int) -> Double {
        guard constants.count > 2, let bias = constants[2] else { return 0 }
        return bias[channel]
    }

    private var hasVariableBias: Bool { operands.count > 2 && constants[2] == nil }

    func convolution(_ operation: Convolution) -> BoundArray? {
        guard let weight = constants[1], !hasVariableBias else { return nil }
        let kernel = operands[1].shape
        let padding = operation.window.padding
        let isPadded = [padding.top, padding.bottom, padding.left, padding.right].contains {
            $0 > 0
        }
        let x = covered(operands[0], padded: isPadded)
        let (inner, taps) = (kernel[1], kernel[2] * kernel[3])
        let perGroup = kernel[0] / operation.groups
        let elements = (0..<kernel[0]).map { output in
            var sum = WeightedSum(bias: bias(output))
            for channel in 0..<inner {
                var sums = TapSums()
                let start = (output * inner + channel) * taps
                for tap in start..<start + taps { sums.add(weight[tap]) }
                sum.add(sums, x.channel(output / perGroup * inner + channel))
            }
            var bound = sum.bound
            if let shares = operands[0].shares, shares.axis == 1, taps == 1, !isPadded,
                operation.groups == 1
            {
                let own = Array(weight[output * inner..<(output + 1) * inner])
                bound = bound.asMean(of: own, bias: bias(output), shares.error)
            }
            return rounded(bound, terms: inner * taps + 1, magnitude: sum.magnitude)
        }
        return perChannel(elements)
    }

    func transposedConvolution(_ operation: ConvolutionTranspose) -> BoundArray? {
        guard let weight = constants[1], !hasVariableBias else { return nil }
        let kernel = operands[1].shape
        let x = covered(operands[0], padded: true)
        let (inputs, outputs) = (kernel[0] / operation.groups, kernel[1])
        let elements = (0..<outputs * operation.groups).map { output in
            let (group, own) = (output / outputs, output % outputs)
            return phases(operation.window, kernel).map { taps in
                var sum = WeightedSum(bias: bias(output))
                for input in group * inputs..<(group + 1) * inputs {
                    var sums = TapSums()
                    let start = (input * outputs + own) * kernel[2] * kernel[3]
                    for tap in taps { sums.add(weight[start + tap]) }
                    sum.add(sums, x.channel(input))
                }
                return rounded(
                    sum.bound, terms: inputs * taps.count + 1, magnitude: sum.magnitude)
            }.reduce(nil) { (hull: Bound?, bound) in hull?.hull(bound) ?? bound } ?? .unknown
        }
        return perChannel(elements)
    }

    /// The taps that contribute to the same pixels of a transposed convolution.
    private func phases(_ window: Window, _ kernel: [Int]) -> [[Int]] {
        var phases: [Int: [Int]] = [:]
        for row in 0..<kernel[2] {
            for column in 0..<kernel[3] {
                let y = row * window.dilation.height % window.stride.height
                let x = column * window.dilation.width % window.stride.width
                phases[y * window.stride.width + x, default: []].append(row * kernel[3] + column)
            }
        }
        let isCovered = phases.count == window.stride.height * window.stride.width
        return phases.sorted { $0.key < $1.key }.map(\.value) + (isCovered ? [] : [[]])
    }

    private func perChannel(_ elements: [Bound]) -> BoundArray {
        var extents = [Int](repeating: 1, count: shape.count)
        extents[1] = elements.count
        return BoundArray(shape: shape, extents: extents, elements: elements)
    }

    func batchNorm(_ operation: BatchNormInference) -> BoundArray? {
        guard constants.dropFirst().allSatisfy({ $0 != nil }) else { return nil }
        let parameters = constants.dropFirst().map { $0 ?? [] }
        var extents = operands[0].extents
        extents[1] = shape[1]
        let x = operands[0].expanded(to: extents)
        let inner = extents.dropFirst(2).reduce(1, *)
        let elements = x.elements.enumerated().map { index, bound in
            let channel = index / inner % shape[1]
            let deviation = (parameters[3][channel] + Double(operation.epsilon)).squareRoot()
            let scale = parameters[0][channel] / deviation
            let shift = parameters[1][channel] - scale * parameters[2][channel]
            var (sum, sums) = (WeightedSum(bias: shift), TapSums())
            sums.add(scale)
            sum.add(sums, bound)
            let parts = abs(parameters[1][channel]) + abs(scale * parameters[2][channel])
            return rounded(sum.bound, terms: 8, magnitude: sum.magnitude + parts)
        }
        return BoundArray(shape: shape, extents: extents, elements: elements)
    }
}

// MARK: Matrix products

extension BoundRules {
    func matrixProduct(_ operation: MatMul) -> BoundArray? {
        let (x, y) = (operands[0], operands[1])
        let (xLead, yLead) = (Array(x.extents.dropLast(2)), Array(y.extents.dropLast(2)))
        let first = MatrixAxes(x, isTransposed: operation.transposeX)
        let second = MatrixAxes(y, isTransposed: operation.transposeY)
        let count = x.shape[x.shape.count - (operation.transposeX ? 2 : 1)]
        let inner = max(first.columns, second.rows)
        let lead = (0..<xLead.count).map { axis in
            max(xLead[axis], yLead.isEmpty ? 1 : yLead[axis])
        }
        let extents = lead + [first.rows, second.columns]
        let total = Shape(extents).count
        guard total <= BoundArray.mostElements, total * inner <= 1 << 28 else { return nil }
        let places = (
            BoundArray(shape: [], extents: xLead, elements: []).places(in: lead),
            BoundArray(shape: [], extents: yLead, elements: []).places(in: lead)
        )
        let repeats = Double(count / inner)
        let elements = (0..<total).map { index in
            let (row, column) = (index / second.columns % first.rows, index % second.columns)
            let batch = index / (second.columns * first.rows)
            var sum = ProductSum()
            for place in 0..<inner {
                sum.add(
                    first.element(places.0[batch], row, place),
                    second.element(places.1[batch], place, column), times: repeats)
            }
            return rounded(sum.bound, terms: count, magnitude: sum.magnitude)
        }
        return BoundArray(shape: shape, extents: extents, elements: elements)
    }
}

/// The bounds of a matrix, whatever its layout.
private struct MatrixAxes {
    private let array: BoundArray
    private let isTransposed: Bool
    let rows: Int
    let columns: Int

    init(_ array: BoundArray, isTransposed: Bool) {
        (self.array, self.isTransposed) = (array, isTransposed)
        let last = Array(array.extents.suffix(2))
        (rows, columns) = isTransposed ? (last[1], last[0]) : (last[0], last[1])
    }

    func element(_ batch: Int, _ row: Int, _ column: Int) -> Bound {
        let (row, column) = (rows == 1 ? 0 : row, columns == 1 ? 0 : column)
        let place = isTransposed ? column * rows + row : row * columns + column
        return array.elements[batch * rows * columns + place]
    }
}

/// A sum of products of bounded numbers.
private struct ProductSum {
    private var exact = Interval.zero
    private var computed = Interval.zero
    private var error = 0.0
    private(set) var magnitude = 0.0

    mutating func add(_ x: Bound, _ y: Bound, times repeats: Double) {
        let count = Interval(repeats)
        exact = exact + x.exact * y.exact * count
        computed = computed + x.computed * y.computed * count
        func product(_ a: Double, _ b: Double) -> Double { a == 0 || b == 0 ? 0 : a * b }
        let (first, second) = (x.both.magnitude, y.both.magnitude)
        error += repeats * (product(first, y.error) + product(second, x.error))
        error += repeats * product(x.error, y.error)
        magnitude += repeats * product(first, second)
    }

    var bound: Bound { Bound(exact: exact, computed: computed, error: error) }
}

// MARK: Reductions

extension BoundRules {
    /// The bounds along the reduced axes of each element of the result, and how often each counts.
    private func reduced(
        _ operation: some AxisReduction, _ combine: ([Bound], _ repeats: Double) -> Bound
    ) -> BoundArray? {
        let x = operands[0]
        guard let axes = try? operation.reducedAxes(of: Shape(x.shape)) else { return nil }
        let kept = x.extents.enumerated().map { axes.contains($0.offset) ? 1 : $0.element }
        let places = BoundArray(shape: x.shape, extents: kept, elements: []).places(in: x.extents)
        var groups = [[Bound]](repeating: [], count: Shape(kept).count)
        for (place, bound) in zip(places, x.elements) { groups[place].append(bound) }
        let all = axes.reduce(1) { $0 * x.shape[$1] }
        let elements = groups.map { combine($0, Double(all / $0.count)) }
        let extents =
            operation.keepDims
            ? kept : kept.enumerated().filter { !axes.contains($0.offset) }.map(\.element)
        return BoundArray(shape: shape, extents: extents, elements: elements)
    }

    func sum(_ operation: some AxisReduction, isMean: Bool) -> BoundArray? {
        reduced(operation) { bounds, repeats in
            let count = repeats * Double(bounds.count)
            var (sum, sums) = (WeightedSum(), TapSums())
            sums.add(isMean ? repeats / count : repeats)
            for bound in bounds { sum.add(sums, bound) }
            return rounded(sum.bound, terms: Int(count) + 1, magnitude: sum.magnitude)
        }
    }

    func maximum(_ operation: Max) -> BoundArray? {
        reduced(operation) { bounds, _ in
            bounds.dropFirst().reduce(bounds[0]) { first, second in
                Bound(
                    exact: .maximum(first.exact, second.exact),
                    computed: .maximum(first.computed, second.computed),
                    error: max(first.error, second.error))
            }
        }
    }

    /// eˣ / Σ eˣ, computed from x − max x, so that no step can overflow.
    func softmax(_ axis: Int) -> BoundArray? {
        let axis = axis < 0 ? axis + shape.count : axis
        let x = operands[0]
        let size = x.extents[axis]
        let repeats = Double(shape[axis] / size)
        let step = x.extents[(axis + 1)...].reduce(1, *)
        var elements = x.elements
        for index in elements.indices where index / step % size == 0 {
            let places = (0..<size).map { index + $0 * step }
            let column = places.map { x.elements[$0] }
            for (own, place) in places.enumerated() {
                elements[place] = share(own, column, repeats)
            }
        }
        var result = BoundArray(shape: shape, extents: x.extents, elements: elements)
        let isFinite = x.elements.allSatisfy { $0.both.magnitude.isFinite }
        if isFinite {
            result.shares = .init(axis: axis, error: Double(shape[axis] + 64) * 0x1p-22)
        }
        return result
    }

    private func share(_ own: Int, _ column: [Bound], _ repeats: Double) -> Bound {
        func range(_ kind: KeyPath<Bound, Interval>) -> Interval {
            let x = column.map { $0[keyPath: kind] }
            var (least, most) = (1.0, 1.0)
            for index in x.indices {
                let count = index == own ? repeats - 1 : repeats
                guard count > 0 else { continue }
                least += count * exp(x[index].lower - x[own].upper)
                most += count * exp(x[index].upper - x[own].lower)
            }
            let margin = 1 + Double(column.count) * 0x1p-45
            return Interval(1 / most / margin, min(1, 1 / least * margin))
        }
        let exact = range(\.exact)
        let apart = column.map(\.error).max() ?? 0
        let error = exact.upper * expm1(2 * apart) * (1 + 0x1p-40)
        let bound = Bound(exact: exact, computed: range(\.computed), error: error)
        // The exponentials' own errors, and those of their sum.
        let terms = Int(repeats) * column.count + (1 << 6)
        var result = rounded(bound, terms: terms, magnitude: max(exact.upper, bound.computed.upper))
        result.computed = result.computed.intersection(Interval(0, .infinity))
        result.exact = result.exact.intersection(Interval(0, 1))
        return result
    }
}

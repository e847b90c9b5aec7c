import RetintGraph
import RetintRuntime
import RetintTensors

extension VerificationReport {
    /// A weight that is the reference's in most of its elements, but not in all.
    ///
    /// Its factor by rows may be another, as after a batch normalization was folded into it.
    public struct ChangedWeight: Hashable, Codable, Sendable {
        /// The name of the value that the model computes with the weight.
        public let layer: String
        /// The name of the reference's weight; that of the value computed with it if it has none.
        public let reference: String
        /// How many elements differ; all of them if the weight is ``isTransposed``.
        public let changed: Int
        /// How many elements the weight has.
        public let count: Int
        /// The largest error, divided by the largest value in that row of the reference's weight.
        public let relativeError: Double
        /// Whether the kernels have the reference's elements, but rows and columns are exchanged.
        public let isTransposed: Bool

        /// What differs, in a sentence.
        var failure: String {
            let subject = "the weight of \(layer) has the elements of \(reference)"
            guard !isTransposed else {
                return "\(subject) with the rows and columns of each kernel exchanged"
            }
            return "\(subject) but for \(changed) of \(count), which differ by up to "
                + "\(figure(relativeError, Self.leastError)) of the largest value in the row"
        }

        /// Smaller errors, relative to the largest value of a row, are those of other arithmetic.
        static let leastError = 1e-4
        /// Errors up to this, relative to the largest value of a row, are rounding.
        static let rounding = 4e-6
    }
}

/// Finds weights of a model that are nearly those of another one.
///
/// Only weights of the same extents are compared, matrices also transposed, without those that the
/// other model has in all elements. So a weight that a converter computed anew is like none, and is
/// not reported.
struct ChangedWeights {
    private(set) var found: [VerificationReport.ChangedWeight] = []
    /// Fewer elements may be equal by chance.
    private static let leastElements = 8

    /// - Throws: the errors of reading weights.
    init(of model: ModelGraph, against other: ModelGraph) throws {
        let expected = Dictionary(grouping: other.comparedWeights, by: \.extents)
        let own = Dictionary(grouping: model.comparedWeights, by: \.extents)
        for (extents, weights) in own where extents.reduce(1, *) >= Self.leastElements {
            if let candidates = expected[extents] { try compare(weights, candidates) }
        }
        found.sort { ($0.layer, $0.reference) < ($1.layer, $1.reference) }
    }

    private mutating func compare(_ weights: [ComparedWeight], _ candidates: [ComparedWeight])
        throws
    {
        var rest = try candidates.map { try ExpectedWeight($0) }
        var unpaired: [(weight: ComparedWeight, values: [Float])] = []
        for weight in weights {
            let values = try weight.read()
            let same = rest.firstIndex { candidate in
                candidate.orders(for: weight.shape).contains {
                    WeightLikeness(values, $0, weight).isSame
                }
            }
            if let same { rest.remove(at: same) } else { unpaired.append((weight, values)) }
        }
        for (weight, values) in unpaired {
            let near = rest.compactMap { report(weight, values, $0) }
            if let nearest = near.min(by: { $0.changed < $1.changed }) { found.append(nearest) }
        }
    }

    private func report(
        _ weight: ComparedWeight, _ values: [Float], _ candidate: ExpectedWeight
    ) -> VerificationReport.ChangedWeight? {
        let likenesses = candidate.orders(for: weight.shape).map {
            WeightLikeness(values, $0, weight)
        }
        if let near = likenesses.first(where: \.isNear) {
            return VerificationReport.ChangedWeight(
                layer: weight.layer, reference: candidate.name, changed: near.changed,
                count: values.count, relativeError: near.largestError, isTransposed: false)
        }
        guard weight.shape == candidate.shape, let kernels = candidate.transposedKernels,
            WeightLikeness(values, kernels, weight).isSame
        else { return nil }
        return VerificationReport.ChangedWeight(
            layer: weight.layer, reference: candidate.name, changed: values.count,
            count: values.count, relativeError: likenesses.first?.largestError ?? 0,
            isTransposed: true)
    }
}

/// A weight of the reference in the orders that a model may have it in.
private final class ExpectedWeight {
    let name: String
    let shape: [Int]
    private let values: [Float]
    private let area: Int
    /// A matrix in the other order: formats multiply by it from either side.
    private lazy var transposed = (0..<values.count).map {
        values[$0 % shape[0] * shape[1] + $0 / shape[0]]
    }
    /// The weight with rows and columns of its square kernels exchanged; nil for other weights.
    private(set) lazy var transposedKernels: [Float]? = {
        guard shape.count > 2, let side = shape.last, area == side * side else { return nil }
        return values.indices.map { index in
            let place = index % area
            return values[index - place + place % side * side + place / side]
        }
    }()

    init(_ weight: ComparedWeight) throws {
        (name, shape, area) = (weight.name, weight.shape, weight.area)
        values = try weight.read()
    }

    func orders(for shape: [Int]) -> [[Float]] {
        let same = shape == self.shape ? [values] : []
        return shape.count == 2 && shape == self.shape.reversed() ? same + [transposed] : same
    }
}

/// How far the elements of two weights of the same extents agree.
private struct WeightLikeness {
    private(set) var changed = 0
    private(set) var largestError = 0.0
    private var equal = 0
    private let count: Int
    /// The number of rows, and of elements of a kernel.
    private let rows, area: Int
    /// Where elements differ: rows, and places in kernels.
    private var changedRows: [Int: Int] = [:]
    private var places: Set<Int> = []
    /// The quotients of changed elements by input channel: the number, the least and the largest.
    private var channels: [Int: (count: Int, quotients: ClosedRange<Double>)] = [:]
    private var isOnDiagonal = true
    /// Equal elements that are not zero, up to a number, to tell weights from zeros and ones.
    private var distinct: Set<Float> = []
    private static let leastDistinct = 8
    private static let leastRow = 8
    /// Rows that show whether the rest is worth a look.
    private static let sampledRows = 8

    init(_ values: [Float], _ expected: [Float], _ weight: ComparedWeight) {
        count = values.count
        rows = weight.shape.count > 1 ? weight.shape[0] : 1
        area = weight.area
        guard values.count == expected.count else { return }
        let row = count / rows
        func add(_ index: Int, to likeness: inout WeightLikeness) {
            let range = index * row..<(index + 1) * row
            likeness.add(index, values[range], expected[range])
        }
        if rows > 2 * Self.sampledRows {
            var sample = self
            for index in 0..<Self.sampledRows {
                add(index * rows / Self.sampledRows, to: &sample)
            }
            guard 4 * sample.equal >= Self.sampledRows * row else { return }
        }
        for index in 0..<rows { add(index, to: &self) }
    }

    var isSame: Bool { equal == count }

    /// Whether most elements are equal, and the others are not what conversions change. Gates of
    /// recurrent layers, which formats order differently, leave up to three quarters in place.
    var isNear: Bool {
        changed > 0 && 4 * equal > 3 * count && distinct.count >= Self.leastDistinct
            && !hasOtherBranch && !hasScaledChannels && !hasOwnRow
    }

    /// Whether the same places of all kernels differ, or the middle of one in each row: smaller
    /// kernels or identities, which ran in parallel, may have been added to them.
    private var hasOtherBranch: Bool {
        guard area > 1 else {
            return isOnDiagonal && 10 * changed >= 9 * min(rows, count / rows)
        }
        guard 2 * places.count <= area else { return false }
        return places == [area / 2] && 10 * changed >= 9 * rows
            || 10 * changed >= 9 * places.count * (count / area)
    }

    /// Whether whole input channels have another factor: the scale of an image, for instance, may
    /// have been folded into the first layer.
    private var hasScaledChannels: Bool {
        rows > 1
            && channels.values.allSatisfy { channel in
                let (low, high) = (channel.quotients.lowerBound, channel.quotients.upperBound)
                return 10 * channel.count >= 9 * rows * area && high - low <= 1e-3 * abs(high)
            }
    }

    /// Whether one row differs as a whole, such as that of a token to which another constant was
    /// added.
    private var hasOwnRow: Bool {
        changedRows.count == 1 && rows > 1 && 10 * changed >= 9 * (count / rows)
    }

    private mutating func add(
        _ index: Int, _ row: ArraySlice<Float>, _ other: ArraySlice<Float>
    ) {
        let peak = other.reduce(0) { max($0, abs($1)) }
        guard peak > 0, peak.isFinite else {
            for (place, (value, expected)) in zip(row, other).enumerated() {
                if value == expected { equal += 1 } else { change(index, place, 1, .infinity) }
            }
            return
        }
        let factor = Self.factor(row, other, peak)
        let scale = 1 / (Double(peak) * abs(factor))
        for (place, (value, expected)) in zip(row, other).enumerated() {
            let error = abs(Double(value) - factor * Double(expected)) * scale
            if error <= VerificationReport.ChangedWeight.rounding {
                equal += 1
                if expected != 0, distinct.count < Self.leastDistinct { distinct.insert(expected) }
            } else if error > VerificationReport.ChangedWeight.leastError {
                change(index, place, error, Double(value) / (factor * Double(expected)))
            }
        }
    }

    private mutating func change(
        _ row: Int, _ place: Int, _ error: Double, _ quotient: Double
    ) {
        changed += 1
        largestError = max(largestError, error)
        places.insert(place % area)
        changedRows[row, default: 0] += 1
        isOnDiagonal = isOnDiagonal && place == row
        let quotient = quotient.isNaN ? .infinity : quotient
        let known = channels[place / area] ?? (0, quotient...quotient)
        let (low, high) = (known.quotients.lowerBound, known.quotients.upperBound)
        channels[place / area] = (known.count + 1, min(low, quotient)...max(high, quotient))
    }

    /// The factor between two rows: the median of the quotients of some large elements. It is 1 if
    /// most others differ, or for short rows, in which few elements would be left to compare.
    private static func factor(
        _ row: ArraySlice<Float>, _ other: ArraySlice<Float>, _ peak: Float
    ) -> Double {
        guard row.count >= leastRow else { return 1 }
        var quotients: [Double] = []
        for (value, expected) in zip(row, other) where abs(expected) > peak / 4 {
            quotients.append(Double(value) / Double(expected))
            if quotients.count == 15 { break }
        }
        let median = quotients.sorted()[quotients.count / 2]
        let close = quotients.count {
            abs($0 - median) <= VerificationReport.ChangedWeight.leastError * abs(median)
        }
        return median != 0 && 2 * close > quotients.count && abs(median - 1) > 1e-6 ? median : 1
    }
}

/// A weight of a graph, and how it is compared.
private struct ComparedWeight {
    let name: String
    /// The name of the value that is computed with it.
    let layer: String
    /// The extents without those of 1.
    let shape: [Int]
    /// The elements of a kernel; 1 for other weights than those of convolutions.
    let area: Int
    let read: () throws -> [Float]

    init(_ weight: GraphWeight, of model: ModelGraph) {
        let user = model.graph.nodes[weight.user].operation
        // The first value that is computed with the weight.
        let value = model.values.first { $0.tensor.id >= weight.user } ?? model.values.last
        layer = value?.description.name ?? user.name
        name = weight.name ?? layer
        let extents = weight.shape.dimensions
        shape = extents.filter { $0 != 1 }
        let isConvolution = user is Convolution || user is ConvolutionTranspose
        area = isConvolution ? extents.dropFirst(2).reduce(1, *) : 1
        read = weight.read
    }

    /// Equal for weights that are compared with each other.
    var extents: [Int] { shape.count == 2 ? shape.sorted() : shape }
}

extension ModelGraph {
    fileprivate var comparedWeights: [ComparedWeight] {
        weights.map { ComparedWeight($0, of: self) }
    }
}

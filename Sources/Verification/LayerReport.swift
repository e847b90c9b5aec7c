import Engine
import Models
import TensorGraph

/// What a value was like in all runs.
public struct LayerReport: Sendable {
    public let value: ComputedValue
    public let range: ValueRange
    /// Nil where there was nothing to compare with.
    public let error: LayerError?
}

/// How large a value's numbers are.
public struct ValueRange: Hashable, Sendable {
    /// The greatest number that float16 has.
    public static let largestHalf = 65504.0

    /// The largest |number| of those that are finite.
    public private(set) var largest = 0.0
    public private(set) var nonFinite: NonFinite?
    /// What was colored when the first number that is not finite came up.
    public private(set) var nonFiniteIn: String?

    /// How much of float16's range is used; above 1 it overflows.
    public var shareOfHalf: Double { largest / Self.largestHalf }

    /// - Parameter run: what is being colored.
    mutating func add(_ value: ObservedValue, in run: String) {
        let magnitude = value.largestMagnitude
        if magnitude.isFinite {
            largest = max(largest, Double(magnitude))
        } else {
            add(value.data, in: run)
        }
    }

    private mutating func add(_ data: TensorData, in run: String) {
        guard let found = NonFinite(in: data) else { return }
        if nonFinite == nil {
            (nonFinite, nonFiniteIn) = (found, run)
        } else {
            nonFinite?.add(found)
        }
        for scalar in data.scalars where scalar.isFinite {
            largest = max(largest, Double(scalar.magnitude))
        }
    }
}

/// How far a value is from what is expected.
public struct LayerError: Hashable, Sendable {
    /// What it was compared with: a value of the other model, or a module of the original.
    public let expected: String
    public let maxAbs: Double
    public let meanAbs: Double
    /// The largest error relative to the largest number expected.
    public let relative: Double
    /// In dB, relative to the largest number expected.
    public let psnr: Double
    public let snr: Double
    public let cosine: Double
    /// Whether it is within the tolerance.
    public let holds: Bool

    /// All numbers are NaN if any that was compared is not finite.
    init(_ sums: ErrorSums, expected: String, tolerance: LayerTolerance) {
        self.expected = expected
        holds = tolerance.holds(sums)
        let isFinite = sums.isFinite
        maxAbs = isFinite ? sums.maxAbs : .nan
        meanAbs = isFinite ? sums.meanAbs : .nan
        relative = isFinite ? sums.relative : .nan
        psnr = isFinite ? sums.psnr(peak: sums.maxExpected) : .nan
        snr = isFinite ? sums.snr : .nan
        cosine = isFinite ? sums.cosine : .nan
    }
}

/// The first value past the tolerance: where error arises rather than passes through, if its
/// inputs are far better.
public struct FirstDeparture: Hashable, Sendable {
    /// Its place among the layers.
    public let layer: Int
    /// The places of the compared values nearest before it; none where those are inputs.
    public let inputs: [Int]

    init?(in layers: [LayerReport]) {
        guard let layer = layers.firstIndex(where: { $0.error?.holds == false }) else {
            return nil
        }
        self.layer = layer
        inputs = nearestCompared(before: layer, in: layers)
    }
}

private func nearestCompared(before layer: Int, in layers: [LayerReport]) -> [Int] {
    var open = layers[layer].value.inputs
    var (seen, found): (Set<Int>, Set<Int>) = ([], [])
    while let place = open.popLast() {
        guard seen.insert(place).inserted else { continue }
        if layers[place].error == nil {
            open += layers[place].value.inputs
        } else {
            found.insert(place)
        }
    }
    return found.sorted()
}

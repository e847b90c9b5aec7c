import Models

/// What a comparison found.
public struct VerificationReport: Sendable {
    public let model: String
    public let reference: String
    public let precision: ModelPrecision
    public let compute: ComputePrecision
    public let tolerance: Tolerance
    /// One for each output of the reference, in its order.
    public let outputs: [OutputComparison]
    /// Nil where the model is no colorizer.
    public let color: ColorDifference?
    /// The pictures one by one; those whose colors are no numbers are missing.
    public let photos: [PhotoDifference]
    /// All that the model computes, in its order.
    public let layers: [LayerReport]
    public let layerTolerance: LayerTolerance
    /// Whether a model fails whose layers do not hold theirs.
    public let layersDecide: Bool

    /// What ran the model.
    public static let runtime = "retint's CPU engine (not Apple's Core ML runtime)"

    /// What is wrong with the colors as a whole.
    public var colorFailures: [String] {
        guard let bound = tolerance.meanDeltaE else { return [] }
        guard let mean = color?.mean else {
            return ["the colors cannot be compared, so their mean ΔE2000 is not known"]
        }
        return mean <= bound ? [] : ["the mean ΔE2000 \(mean) is above \(bound)"]
    }

    /// What is wrong with what is computed on the way, if that decides.
    public var layerFailures: [String] {
        guard layersDecide else { return [] }
        guard comparedCount > 0 else {
            return ["nothing that is computed on the way could be compared"]
        }
        let count = layers.count { $0.error?.holds == false }
        return count == 0 ? [] : ["\(count) intermediate values are past the tolerance"]
    }

    /// Whether something was compared and all of it holds its bounds.
    public var passed: Bool {
        !outputs.isEmpty && !tolerance.isEmpty && colorFailures.isEmpty && layerFailures.isEmpty
            && outputs.allSatisfy(\.failures.isEmpty)
    }

    /// How many values on the way were compared.
    public var comparedCount: Int { layers.count { $0.error != nil } }

    /// The first value on the way past the tolerance.
    public var firstDeparture: FirstDeparture? { FirstDeparture(in: layers) }

    /// The place of the first value that has a NaN or an infinity.
    public var firstNonFinite: Int? { layers.firstIndex { $0.range.nonFinite != nil } }

    /// The places of the values with the largest numbers, the largest first.
    public func largestValues(_ count: Int) -> [Int] {
        let sorted = layers.indices.sorted {
            (layers[$0].range.largest, $1) > (layers[$1].range.largest, $0)
        }
        return Array(sorted.prefix(count))
    }

    /// The places of the values with the lowest SNR, the lowest first; those that are no numbers
    /// lead.
    public func worstValues(_ count: Int) -> [Int] {
        func rank(_ place: Int) -> Double {
            layers[place].error.map { $0.snr.isNaN ? -.infinity : $0.snr } ?? .infinity
        }
        let compared = layers.indices.filter { layers[$0].error != nil }
        return Array(compared.sorted { (rank($0), $0) < (rank($1), $1) }.prefix(count))
    }

    /// The photo whose colors are off the most on the mean.
    public var worstPhoto: PhotoDifference? {
        photos.max { $0.difference.mean < $1.difference.mean }
    }
}

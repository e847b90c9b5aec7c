/// What a comparison found.
package struct VerificationReport: Sendable {
    package let model: String
    package let reference: String
    package let precision: ModelPrecision
    package let compute: ComputePrecision
    package let tolerance: Tolerance
    /// One for each output of the reference, in its order.
    package let outputs: [OutputComparison]
    /// Nil where the model is no colorizer.
    package let color: ColorDifference?
    /// The pictures one by one; those whose colors are no numbers are missing.
    package let photos: [PhotoDifference]
    /// All that the model computes, in its order.
    package let layers: [LayerReport]
    package let layerTolerance: LayerTolerance
    /// Whether a model fails whose layers do not hold theirs.
    package let layersDecide: Bool

    /// What ran the model.
    package static let runtime = "retint's CPU engine (not Apple's Core ML runtime)"

    /// What is wrong with the colors as a whole.
    package var colorFailures: [String] {
        guard let bound = tolerance.meanDeltaE else { return [] }
        guard let mean = color?.mean else {
            return ["the colors cannot be compared, so their mean ΔE2000 is not known"]
        }
        return mean <= bound ? [] : ["the mean ΔE2000 \(mean) is above \(bound)"]
    }

    /// What is wrong with what is computed on the way, if that decides.
    package var layerFailures: [String] {
        guard layersDecide else { return [] }
        guard comparedCount > 0 else {
            return ["nothing that is computed on the way could be compared"]
        }
        let count = layers.count { $0.error?.holds == false }
        return count == 0 ? [] : ["\(count) intermediate values are past the tolerance"]
    }

    /// Whether something was compared and all of it holds its bounds.
    package var passed: Bool {
        !outputs.isEmpty && !tolerance.isEmpty && colorFailures.isEmpty && layerFailures.isEmpty
            && outputs.allSatisfy(\.failures.isEmpty)
    }

    /// How many values on the way were compared.
    package var comparedCount: Int { layers.count { $0.error != nil } }

    /// The first value on the way past the tolerance.
    package var firstDeparture: FirstDeparture? { FirstDeparture(in: layers) }

    /// The place of the first value that has a NaN or an infinity.
    package var firstNonFinite: Int? { layers.firstIndex { $0.range.nonFinite != nil } }

    /// The places of the values with the largest numbers, the largest first.
    package func largestValues(_ count: Int) -> [Int] {
        let sorted = layers.indices.sorted {
            (layers[$0].range.largest, $1) > (layers[$1].range.largest, $0)
        }
        return Array(sorted.prefix(count))
    }

    /// The places of the values with the lowest SNR, the lowest first; those that are no numbers
    /// lead.
    package func worstValues(_ count: Int) -> [Int] {
        func rank(_ place: Int) -> Double {
            layers[place].error.map { $0.snr.isNaN ? -.infinity : $0.snr } ?? .infinity
        }
        let compared = layers.indices.filter { layers[$0].error != nil }
        return Array(compared.sorted { (rank($0), $0) < (rank($1), $1) }.prefix(count))
    }

    /// The photo whose colors are off the most on the mean.
    package var worstPhoto: PhotoDifference? {
        photos.max { $0.difference.mean < $1.difference.mean }
    }
}

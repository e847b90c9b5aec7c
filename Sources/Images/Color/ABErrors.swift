/// The distribution of per-pixel ab errors over any number of images.
///
/// A pixel's error is the Euclidean distance in the ab plane. With weights that grow
/// with the rarity of a pixel's true color, the measures are class-rebalanced.
package struct ABErrors: Sendable {
    /// The largest threshold of the cumulative curve.
    package static let largestThreshold = 150

    /// The total weight of the pixels whose error, rounded up, is the index; the last entry has the
    /// rest.
    private var weights = [Double](repeating: 0, count: largestThreshold + 2)
    private var sum = 0.0
    private var total = 0.0

    /// A distribution of no pixels.
    package init() {}

    /// Adds the pixels of an image.
    ///
    /// - Parameter weights: One weight per pixel, at least 0; nil counts each pixel once.
    /// - Throws: `ColorScienceError` when the counts differ or are zero.
    package mutating func add(
        reference: LabPlanes, estimate: LabPlanes, weights: [Float]? = nil
    ) throws {
        try ColorScienceError.requireSameCount("ab error", reference.count, estimate.count)
        if let weights {
            try ColorScienceError.requireSameCount("ab error", reference.count, weights.count)
        }
        for index in 0..<reference.count {
            let da = reference.a[index] - estimate.a[index]
            let db = reference.b[index] - estimate.b[index]
            add((da * da + db * db).squareRoot(), weight: Double(weights?[index] ?? 1))
        }
    }

    private mutating func add(_ error: Float, weight: Double) {
        let bounded = error < Float(Self.largestThreshold + 1) ? error : Float(weights.count - 1)
        weights[Int(bounded.rounded(.up))] += weight
        sum += weight * Double(error)
        total += weight
    }

    /// The weighted mean of the errors; NaN before any pixel.
    package var mean: Double { sum / total }

    /// The share of pixels whose error is at most 0, 1, …, 150.
    package var cumulative: [Double] {
        var running = 0.0
        return weights.dropLast().map { weight in
            running += weight
            return running / total
        }
    }

    /// The area under the cumulative curve over thresholds 0…150 (trapezoids), divided by 150:
    /// 1 when every pixel is right.
    package var areaUnderCurve: Double {
        let curve = cumulative
        let inner = curve.reduce(0, +) - (curve[0] + curve[curve.count - 1]) / 2
        return inner / Double(Self.largestThreshold)
    }
}

/// The mean over pixels of the Euclidean distance in the ab plane.
///
/// - Throws: `ColorScienceError` when the images differ in size or are empty.
package func meanABError(_ reference: LabPlanes, _ estimate: LabPlanes) throws -> Double {
    var errors = ABErrors()
    try errors.add(reference: reference, estimate: estimate)
    return errors.mean
}

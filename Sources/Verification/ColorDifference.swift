import ColorScience
import Models
import TensorGraph

/// The CIEDE2000 difference of the colors that the model gives from those expected, over all
/// pixels; colors are Lab with the input's lightness, before anything is clamped to sRGB.
public struct ColorDifference: Hashable, Sendable {
    public let mean: Double
    /// What 99 of 100 pixels stay at or below, interpolated between two pixels.
    public let percentile99: Double

    public init(mean: Double, percentile99: Double) {
        self.mean = mean
        self.percentile99 = percentile99
    }

    /// - Precondition: there are values.
    public init(_ values: [Float]) {
        mean = values.reduce(0) { $0 + Double($1) } / Double(values.count)
        percentile99 = percentile(values, 0.99)
    }

    /// Nil unless lightness is [N, 1, H, W] and both colors are [N, 2, H, W] and finite.
    public init?(lightness: TensorData, computed: TensorData, expected: TensorData) throws {
        guard let values = try colorDifferences(lightness, computed, expected) else { return nil }
        self.init(values)
    }
}

/// The difference of each pixel, picture by picture; nil unless lightness is [N, 1, H, W] and both
/// colors are [N, 2, H, W] and finite.
func colorDifferences(
    _ lightness: TensorData, _ computed: TensorData, _ expected: TensorData
) throws -> [Float]? {
    let shape = lightness.shape
    guard shape.rank == 4, shape[1] == 1, computed.shape == expected.shape,
        expected.shape == [shape[0], 2, shape[2], shape[3]],
        computed.scalars.allSatisfy(\.isFinite)
    else { return nil }
    return try deltaE2000(
        LabPlanes(lightness, ab: expected), LabPlanes(lightness, ab: computed))
}

/// What a photo's colors are off.
public struct PhotoDifference: Hashable, Sendable {
    /// The photo's path, or what else was colored.
    public let photo: String
    public let difference: ColorDifference
}

/// Gathers color differences photo by photo.
struct ColorGathering {
    private(set) var photos: [PhotoDifference] = []
    private var sum = 0.0
    private var tail: UpperTail
    private let total: Int

    /// - Parameter total: the pixels of all photos.
    init(total: Int) {
        self.total = total
        tail = UpperTail(total: total, share: 0.99)
    }

    /// Adds the pixels of photos of one size.
    mutating func add(_ values: [Float], of labels: [String]) {
        let count = values.count / labels.count
        for (place, label) in labels.enumerated() {
            let own = Array(values[place * count..<(place + 1) * count])
            photos.append(PhotoDifference(photo: label, difference: ColorDifference(own)))
        }
        for value in values {
            sum += Double(value)
            tail.add(value)
        }
    }

    var difference: ColorDifference {
        ColorDifference(mean: sum / Double(total), percentile99: tail.percentile)
    }
}

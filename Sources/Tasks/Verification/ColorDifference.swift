import RetintColor
import RetintGraph
import RetintRuntime
import RetintTensors

extension VerificationReport {
    /// The CIEDE2000 difference between a model's colors and the expected ones, over all pixels.
    ///
    /// Colors are compared in Lab with the input's lightness, before they are clamped to sRGB.
    public struct ColorDifference: Hashable, Sendable, Codable {
        /// The mean over all pixels.
        public let mean: Double
        /// The 99th percentile over all pixels, linearly interpolated.
        public let percentile99: Double

        /// Creates a difference from its two statistics.
        public init(mean: Double, percentile99: Double) {
            self.mean = mean
            self.percentile99 = percentile99
        }

        /// Computes the statistics of per-pixel differences.
        ///
        /// - Precondition: `values` is not empty.
        public init(_ values: [Float]) {
            mean = values.reduce(0) { $0 + Double($1) } / Double(values.count)
            percentile99 = percentile(values, 0.99)
        }

        /// Compares two sets of colors for the same lightness.
        ///
        /// Nil if a shape is not as described, or a computed color is NaN or infinite.
        ///
        /// - Parameters:
        ///   - lightness: L in 0…100, [N, 1, H, W].
        ///   - computed: a and b, [N, 2, H, W].
        ///   - expected: a and b, [N, 2, H, W].
        public init?(lightness: TensorData, computed: TensorData, expected: TensorData) throws {
            guard let values = try colorDifferences(lightness, computed, expected) else {
                return nil
            }
            self.init(values)
        }
    }
}

/// The CIEDE2000 difference of each pixel, image after image; nil unless lightness is
/// [N, 1, H, W], both colors are [N, 2, H, W] and the computed ones are finite.
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

extension VerificationReport {
    /// The color difference of one photo.
    public struct PhotoDifference: Hashable, Sendable, Codable {
        /// The photo's path, or another name of the image.
        public let photo: String
        /// The difference over the photo's pixels.
        public let difference: VerificationReport.ColorDifference

        private enum CodingKeys: String, CodingKey {
            case photo
            case difference = "deltaE2000"
        }
    }
}

/// Accumulates color differences photo by photo.
struct ColorGathering {
    private(set) var photos: [VerificationReport.PhotoDifference] = []
    private var sum = 0.0
    private var tail: UpperTail
    private let total: Int

    /// - Parameter total: the number of pixels of all photos.
    init(total: Int) {
        self.total = total
        tail = UpperTail(total: total, share: 0.99)
    }

    /// Adds a batch of photos of the same size.
    ///
    /// - Parameters:
    ///   - values: the difference of each pixel, photo after photo.
    ///   - labels: a name for each photo.
    mutating func add(_ values: [Float], of labels: [String]) {
        let count = values.count / labels.count
        for (index, label) in labels.enumerated() {
            let pixels = Array(values[index * count..<(index + 1) * count])
            photos.append(
                VerificationReport.PhotoDifference(
                    photo: label, difference: VerificationReport.ColorDifference(pixels)))
        }
        for value in values {
            sum += Double(value)
            tail.add(value)
        }
    }

    var difference: VerificationReport.ColorDifference {
        VerificationReport.ColorDifference(mean: sum / Double(total), percentile99: tail.percentile)
    }
}

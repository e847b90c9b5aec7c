import RetintColor
import RetintImages

/// The measurements of one validation photo.
struct PhotoMeasures {
    fileprivate let loss, difference, colorful, photoColorful: Double
    /// The squared differences of its values, summed.
    fileprivate let squares: Int

    init(_ crop: Image, _ estimate: Image, loss: Float) throws {
        self.loss = Double(loss)
        difference = try meanDeltaE2000(lab(fromRGB: crop.pixels), lab(fromRGB: estimate.pixels))
        colorful = try RetintColor.colorfulness(ofRGB: estimate.pixels)
        photoColorful = try RetintColor.colorfulness(ofRGB: crop.pixels)
        squares = squaredDifferences(crop.pixels, estimate.pixels)
    }

    // MARK: Exchange between ranks

    private static let count = 5

    /// Whole numbers of this size are exact in a `Double`.
    var numbers: [Double] { [loss, difference, colorful, photoColorful, Double(squares)] }

    private init(_ numbers: ArraySlice<Double>) {
        let values = Array(numbers)
        (loss, difference, colorful, photoColorful) = (values[0], values[1], values[2], values[3])
        squares = Int(values[4])
    }

    static func list(_ numbers: ArraySlice<Double>) -> [PhotoMeasures] {
        stride(from: numbers.startIndex, to: numbers.endIndex, by: count).map {
            PhotoMeasures(numbers[$0..<$0 + count])
        }
    }
}

extension [PhotoMeasures] {
    /// - Parameter values: the values of one photo, three per pixel.
    func metrics(values: Int) -> ValidationMetrics {
        let total = Double(count)
        let mean = { (value: (PhotoMeasures) -> Double) in
            self.reduce(0) { $0 + value($1) } / total
        }
        let ratio = psnr(
            squaredDifferences: reduce(0) { $0 + $1.squares }, count: count * values)
        return ValidationMetrics(
            photos: count, loss: mean(\.loss), psnr: ratio.isFinite ? ratio : nil,
            deltaE2000: mean(\.difference), colorfulness: mean(\.colorful),
            photoColorfulness: mean(\.photoColorful))
    }
}

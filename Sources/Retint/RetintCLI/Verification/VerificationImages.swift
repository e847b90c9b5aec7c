import Foundation
import Retint

/// The images of each runtime's comparison.
final class JudgedImages {
    private var images: [Judge: VerificationImages] = [:]

    subscript(judge: Judge) -> VerificationImages {
        if let own = images[judge] { return own }
        let new = VerificationImages()
        images[judge] = new
        return new
    }
}

/// The images of a comparison that differ most, to be shown on a page.
final class VerificationImages {
    struct Entry {
        let label: String
        let difference: VerificationReport.ColorDifference
        let gray: Image
        let expected: Image
        let model: Image
        /// The CIEDE2000 difference of each pixel.
        let differences: [Float]
    }

    private static let maximumCount = 12

    /// From the largest mean difference to the smallest.
    private(set) var entries: [Entry] = []
    /// The number of compared images, including those not kept.
    private(set) var count = 0

    func add(_ batch: ColoredBatch) {
        count += batch.labels.count
        let area = batch.differences.count / max(batch.labels.count, 1)
        for (index, label) in batch.labels.enumerated() {
            let differences = Array(batch.differences[index * area..<(index + 1) * area])
            let difference = VerificationReport.ColorDifference(differences)
            let place =
                entries.firstIndex { $0.difference.mean < difference.mean } ?? entries.count
            guard place < Self.maximumCount else { continue }
            let entry = Entry(batch, index, label, differences, difference)
            entries.insert(entry, at: place)
            if entries.count > Self.maximumCount { entries.removeLast() }
        }
    }

    /// The difference that the brightest color of the maps stands for: at least the 99th percentile
    /// of every image, rounded up to 1, 2 or 5 times a power of ten.
    var scale: Double {
        let largest = entries.map(\.difference.percentile99).max() ?? 0
        guard largest > 0 else { return 1 }
        let power = pow(10, log10(largest).rounded(.down))
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= largest } ?? 10 * power
    }
}

extension VerificationImages.Entry {
    init(
        _ batch: ColoredBatch, _ index: Int, _ label: String, _ differences: [Float],
        _ difference: VerificationReport.ColorDifference
    ) {
        let (width, height) = (batch.lightness.shape[3], batch.lightness.shape[2])
        let area = width * height
        let l = Array(batch.lightness.scalars[index * area..<(index + 1) * area])
        func image(_ ab: TensorData?) -> Image {
            let start = 2 * index * area
            let zeros = [Float](repeating: 0, count: area)
            let a = ab.map { Array($0.scalars[start..<start + area]) } ?? zeros
            let b = ab.map { Array($0.scalars[start + area..<start + 2 * area]) } ?? zeros
            let pixels = LabPlanes(l: l, a: a, b: b).rgb()
            return Image(width: width, height: height, pixels: pixels)
        }
        self.label = label
        gray = image(nil)
        expected = image(batch.expected)
        model = image(batch.computed)
        (self.differences, self.difference) = (differences, difference)
    }

    /// The differences as a heat map.
    func map(scale: Double) -> Image {
        let pixels = differences.flatMap { HeatColor.rgb(Double($0) / scale) }
        return Image(width: gray.width, height: gray.height, pixels: pixels)
    }
}

/// The color map of differences, from black over red to pale yellow: lightness rises with the
/// value.
enum HeatColor {
    private static let stops: [[Double]] = [
        [0, 0, 0], [70, 10, 90], [190, 45, 70], [245, 140, 25], [255, 250, 190],
    ]

    /// The red, green and blue of a share of the scale, clamped to 0…1.
    static func rgb(_ share: Double) -> [UInt8] {
        let position = min(max(share, 0), 1) * Double(stops.count - 1)
        let below = min(Int(position), stops.count - 2)
        let fraction = position - Double(below)
        return zip(stops[below], stops[below + 1]).map { UInt8($0 + ($1 - $0) * fraction) }
    }

    /// The color map as a CSS gradient.
    static var gradient: String {
        let colors = stops.map { "rgb(\(Int($0[0])),\(Int($0[1])),\(Int($0[2])))" }
        return "linear-gradient(to right,\(colors.joined(separator: ",")))"
    }
}

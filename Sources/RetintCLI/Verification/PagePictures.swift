import Foundation
import Retint

/// The first pictures of a comparison, as a page shows them.
final class PagePictures {
    struct Picture {
        let label: String
        let difference: ColorDifference
        let gray: Image
        let expected: Image
        let model: Image
        /// The CIEDE2000 difference of each pixel.
        let differences: [Float]
    }

    private static let most = 12

    private(set) var pictures: [Picture] = []
    /// How many there were in all.
    private(set) var count = 0

    func add(_ sample: ColoredBatch) {
        count += sample.labels.count
        for (place, label) in sample.labels.enumerated() where pictures.count < Self.most {
            pictures.append(Picture(sample, place, label))
        }
    }

    /// What the brightest color of the maps stands for: 99 of 100 pixels of each picture stay at
    /// or below it.
    var scale: Double {
        let largest = pictures.map(\.difference.percentile99).max() ?? 0
        guard largest > 0 else { return 1 }
        let power = pow(10, log10(largest).rounded(.down))
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= largest } ?? 10 * power
    }
}

extension PagePictures.Picture {
    init(_ sample: ColoredBatch, _ place: Int, _ label: String) {
        let (width, height) = (sample.lightness.shape[3], sample.lightness.shape[2])
        let area = width * height
        let l = Array(sample.lightness.scalars[place * area..<(place + 1) * area])
        func image(_ ab: TensorData?) -> Image {
            let start = 2 * place * area
            let zeros = [Float](repeating: 0, count: area)
            let a = ab.map { Array($0.scalars[start..<start + area]) } ?? zeros
            let b = ab.map { Array($0.scalars[start + area..<start + 2 * area]) } ?? zeros
            let pixels = rgb(fromLab: LabPlanes(l: l, a: a, b: b))
            return Image(width: width, height: height, pixels: pixels)
        }
        self.label = label
        gray = image(nil)
        expected = image(sample.expected)
        model = image(sample.computed)
        differences = Array(sample.differences[place * area..<(place + 1) * area])
        difference = ColorDifference(differences)
    }

    /// The differences in colors from black over red to pale yellow.
    func map(scale: Double) -> Image {
        let pixels = differences.flatMap { HeatColor.at(Double($0) / scale) }
        return Image(width: gray.width, height: gray.height, pixels: pixels)
    }
}

/// Colors that get lighter with what they stand for, in print as well.
enum HeatColor {
    private static let stops: [[Double]] = [
        [0, 0, 0], [70, 10, 90], [190, 45, 70], [245, 140, 25], [255, 250, 190],
    ]

    /// R, G and B for a share of the scale; what is beyond it has the last color.
    static func at(_ share: Double) -> [UInt8] {
        let place = min(max(share, 0), 1) * Double(stops.count - 1)
        let below = min(Int(place), stops.count - 2)
        let fraction = place - Double(below)
        return zip(stops[below], stops[below + 1]).map { UInt8($0 + ($1 - $0) * fraction) }
    }

    /// A gradient of CSS.
    static var gradient: String {
        let colors = stops.map { "rgb(\(Int($0[0])),\(Int($0[1])),\(Int($0[2])))" }
        return "linear-gradient(to right,\(colors.joined(separator: ",")))"
    }
}

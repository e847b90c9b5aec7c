import Foundation
import RetintColor
import RetintTestSupport

/// Colors and their differences as scikit-image computes them (Goldens/record.py).
struct ColorGoldens: Decodable {
    let rgb: [UInt8]
    let lab: [Float]
    let outOfGamutLab: [Float]
    let outOfGamutRgb: [UInt8]
    let otherLab: [Float]
    let deltaE2000: [Float]
    let deltaE76: [Float]

    static func load() throws -> Self { try decodeGolden("lab.json", keys: .convertFromSnakeCase) }
}

/// A pair of images and its measures as scikit-image computes them.
struct ImageGoldens: Decodable {
    let width: Int
    let height: Int
    let first: [UInt8]
    let second: [UInt8]
    let psnr: Double
    let ssim: Double
    let colorfulness: Double
    let basicsrColorfulness: Double
    let meanDeltaE2000: Double
    let meanAbError: Double
    let areaUnderCurve: Double
    let balancedArea: Double

    static func load() throws -> Self {
        try decodeGolden("pictures.json", keys: .convertFromSnakeCase)
    }
}

/// The errors of two images by groups of pixels, from scikit-image's lightness, chroma and hue.
struct GroupGoldens: Decodable {
    let reference: [Float]
    let estimate: [Float]
    let chromaError: Double
    let chromaBias: Double
    let hueError: Double
    let hueAngle: Double
    let errorsByLightness: [Double]
    let nearGray: [Double]
    let nearGrayShare: Double

    static func load() throws -> Self {
        try decodeGolden("groups.json", keys: .convertFromSnakeCase)
    }
}

/// The errors of skin by its tone, in an image of patches.
struct SkinGoldens: Decodable {
    let width: Int
    let original: [UInt8]
    let estimate: [UInt8]
    let deltaE2000: [Double?]
    /// x, y, width and height of each, in pixels.
    let boxes: [[Int]]
    let deltaE2000InBoxes: [Double?]

    static func load() throws -> Self {
        try decodeGolden("skin.json", keys: .convertFromSnakeCase)
    }
}

extension LabPlanes {
    /// L, a, b, L, a, b, …
    init(interleaved values: [Float]) {
        let pixels = stride(from: 0, to: values.count, by: 3)
        self.init(
            l: pixels.map { values[$0] }, a: pixels.map { values[$0 + 1] },
            b: pixels.map { values[$0 + 2] })
    }

    func prefix(_ count: Int) -> LabPlanes {
        LabPlanes(interleaved: Array(interleaved.prefix(3 * count)))
    }

    func suffix(_ count: Int) -> LabPlanes {
        LabPlanes(interleaved: Array(interleaved.suffix(3 * count)))
    }

    var interleaved: [Float] { (0..<count).flatMap { [l[$0], a[$0], b[$0]] } }
}

func largestDifference(_ first: [Float], _ second: [Float]) -> Float {
    guard first.count == second.count else { return .infinity }
    return zip(first, second).reduce(0) { max($0, abs($1.0 - $1.1)) }
}

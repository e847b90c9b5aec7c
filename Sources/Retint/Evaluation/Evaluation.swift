import ColorScience
import ImageIO
import Models
import TensorGraph

/// The quality of a model's colors on photos, beside that of gray and of the photos' mean color.
///
/// Images are compared at the network's size, as in papers, or at their own.
struct Evaluation {
    private let colorizer: Colorizer
    private let scale: EvaluationScale
    private let meanColor: (a: Float, b: Float)
    private var colored: [ImageQuality] = []
    private var gray: [ImageQuality] = []
    private var uniform: [ImageQuality] = []
    private var photos: [EvaluationReport.Photo] = []
    private var colorfulness = 0.0

    /// - Parameter meanColor: the mean a and b of the photos, see ``MeanColor``.
    init(_ colorizer: Colorizer, _ scale: EvaluationScale, meanColor: (a: Float, b: Float)) {
        (self.colorizer, self.scale, self.meanColor) = (colorizer, scale, meanColor)
    }

    /// Colors a photo and compares it with the original.
    ///
    /// - Throws: `ImageError` if the photo can no longer be read; `ModelError` if the model gives
    ///   colors that are not finite.
    mutating func add(_ photo: EvaluationPhotos.Photo) throws -> ColoredPhoto {
        let original = try scale.scaled(photo.image())
        let image = try inColor(original)
        func measured(_ image: Image) throws -> ImageQuality {
            try ImageQuality(image, original: original, edgeReach: scale.edgeReach(original))
        }
        let quality = try measured(image)
        colored.append(quality)
        gray.append(try measured(original.gray))
        uniform.append(try measured(inMeanColor(original)))
        colorfulness += try ColorScience.colorfulness(ofRGB: original.pixels)
        photos.append(.init(file: photo.reference.description, quality: quality.quality))
        return ColoredPhoto(
            photo: photo.reference, original: original, colored: image, quality: quality.quality)
    }

    private func inColor(_ image: Image) throws -> Image {
        guard case .network = scale else { return try colorizer.colorize(image) }
        let colors = try colorizer.colors(of: image)
        return image.withColor(a: colors.colorPlane(0), b: colors.colorPlane(1))
    }

    private func inMeanColor(_ image: Image) -> Image {
        let count = image.width * image.height
        return image.withColor(
            a: [Float](repeating: meanColor.a, count: count),
            b: [Float](repeating: meanColor.b, count: count))
    }

    /// - Returns: nil if no photo was added.
    func report(
        on model: String, failures: [EvaluationReport.Failure]
    ) -> EvaluationReport? {
        guard let colored = EvaluationReport.Column(colored),
            let gray = EvaluationReport.Column(gray),
            let meanColor = EvaluationReport.Column(uniform)
        else { return nil }
        let (height, width) = colorizer.networkSize
        return EvaluationReport(
            model: model, height: height, width: width, colored: colored, gray: gray,
            meanColor: meanColor, originalColorfulness: colorfulness / Double(photos.count),
            photos: photos, failures: failures, fitting: scale.isPhoto ? colorizer.fitting : nil)
    }
}

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
    private let meanColor: MeanColor

    /// What was measured of one photo.
    struct Measures: Codable {
        /// The photo's path.
        let file: String
        let colored, gray, uniform: ImageQuality
        /// The colorfulness of the photo itself.
        let colorfulness: Double
    }

    /// - Parameter meanColor: that of all photos.
    init(_ colorizer: Colorizer, _ scale: EvaluationScale, meanColor: MeanColor) {
        (self.colorizer, self.scale, self.meanColor) = (colorizer, scale, meanColor)
    }

    /// Colors a photo and compares it with the original.
    ///
    /// - Throws: `ImageError` if the photo can no longer be read; `ModelError` if the model gives
    ///   colors that are not finite.
    func measure(
        _ photo: EvaluationPhotos.Photo
    ) throws -> (measures: Measures, photo: ColoredPhoto) {
        let original = try scale.scaled(photo.image())
        let image = try inColor(original)
        func quality(_ image: Image) throws -> ImageQuality {
            try ImageQuality(image, original: original, edgeReach: scale.edgeReach(original))
        }
        let measures = Measures(
            file: photo.reference.description, colored: try quality(image),
            gray: try quality(original.gray), uniform: try quality(inMeanColor(original)),
            colorfulness: try ColorScience.colorfulness(ofRGB: original.pixels))
        return (
            measures,
            ColoredPhoto(
                photo: photo.reference, index: photo.index, original: original, colored: image,
                quality: measures.colored.quality)
        )
    }

    private func inColor(_ image: Image) throws -> Image {
        guard case .network = scale else { return try colorizer.colorize(image) }
        let colors = try colorizer.colors(of: image)
        return image.withColor(a: colors.colorPlane(0), b: colors.colorPlane(1))
    }

    private func inMeanColor(_ image: Image) -> Image {
        let count = image.width * image.height
        return image.withColor(
            a: [Float](repeating: Float(meanColor.a), count: count),
            b: [Float](repeating: Float(meanColor.b), count: count))
    }

    /// The report on all photos, in their order.
    ///
    /// - Returns: nil if there are none.
    func report(
        on model: String, _ photos: [Measures], failures: [EvaluationReport.Failure]
    ) -> EvaluationReport? {
        guard let colored = EvaluationReport.Column(photos.map(\.colored)),
            let gray = EvaluationReport.Column(photos.map(\.gray)),
            let meanColor = EvaluationReport.Column(photos.map(\.uniform))
        else { return nil }
        let (height, width) = colorizer.networkSize
        let colorfulness = photos.reduce(0) { $0 + $1.colorfulness } / Double(photos.count)
        return EvaluationReport(
            model: model, height: height, width: width, colored: colored, gray: gray,
            meanColor: meanColor, originalColorfulness: colorfulness,
            photos: photos.map { .init(file: $0.file, quality: $0.colored.quality) },
            failures: failures, fitting: scale.isPhoto ? colorizer.fitting : nil)
    }
}

import RetintColor
import RetintColoring
import RetintGraph
import RetintImages
import RetintLocks
import RetintPhotoData
import RetintRuntime

/// The quality of a model's colors on photos, compared with gray and the photos' mean color.
///
/// Images are compared at the network's size, as in papers, or at their own size.
struct Evaluation {
    private let colorizer: Colorizer
    private let scale: EvaluationScale
    private let meanColor: MeanColor
    private let oldPhoto: OldPhotoSettings
    private let features: FeatureProgram?
    private let skin: SkinMeasure?

    /// The measurements of one photo.
    struct Measures: Codable {
        /// The photo's path.
        let file: String
        let colored, gray, uniform: ImageQuality
        /// The colorfulness of the photo itself.
        let colorfulness: Double
        /// The features of the photo, and of its three copies; nil if they are not compared.
        let features: Features?
    }

    /// The pooled features of a photo and of its copies.
    struct Features: Codable {
        let original, colored, gray, uniform: [Double]
    }

    /// - Parameters:
    ///   - meanColor: the mean color of all photos.
    ///   - oldPhoto: damages the model's input.
    ///   - features: also compares features.
    ///   - skin: also measures skin.
    init(
        _ colorizer: Colorizer, _ scale: EvaluationScale, meanColor: MeanColor,
        oldPhoto: OldPhotoSettings, features: FeatureProgram?, skin: SkinMeasure?
    ) {
        (self.colorizer, self.scale, self.meanColor) = (colorizer, scale, meanColor)
        (self.oldPhoto, self.features, self.skin) = (oldPhoto, features, skin)
    }

    /// The measurements of a photo, and the photo in color.
    typealias Measured = (measures: Measures, photo: EvaluationReport.ColoredPhoto)

    /// The number of photos that are measured together: some more than there are threads, because
    /// large photos take longer.
    var batch: Int { colorizer.workerCount + 6 }

    /// Colors photos one after the other, each on all threads, and compares them with the
    /// originals, each on one thread.
    ///
    /// - Parameter photos: at most ``batch``, since all are kept in memory.
    /// - Throws: `ImageError` if a photo can no longer be read; `ModelError` if the model returns
    ///   colors that are not finite.
    func measure(_ photos: some Collection<EvaluationPhotos.Photo>) throws -> [Measured] {
        let colored = try photos.map(inColor)
        let results = Mutex(colored.map { _ -> Result<Measured, any Error>? in nil })
        concurrently(colored.count, threads: colorizer.workerCount) { index in
            let result = Result { try compare(colored[index]) }
            results.withLock { $0[index] = result }
        }
        return try results.withLock { $0 }.compactMap { try $0?.get() }
    }

    /// A photo, and its copy that is compared with it.
    private struct Colored {
        let photo: EvaluationPhotos.Photo
        let original, image: Image
    }

    private func inColor(_ photo: EvaluationPhotos.Photo) throws -> Colored {
        let original = try scale.scaled(photo.image())
        let old = try original.asOldPhoto(oldPhoto, seed: 0, name: "\(photo.index)")
        return Colored(
            photo: photo, original: original, image: try inColor(original, seen: old ?? original))
    }

    private func compare(_ colored: Colored) throws -> Measured {
        let (photo, original, image) = (colored.photo, colored.original, colored.image)
        let (grayImage, uniformImage) = (original.gray, inMeanColor(original))
        let (reference, regions) = (
            lab(fromRGB: original.pixels), skin?.regions(of: photo.reference)
        )
        func quality(_ image: Image) throws -> ImageQuality {
            try ImageQuality(
                image, original: original, reference: reference,
                edgeReach: scale.edgeReach(original), skinRegions: regions)
        }
        let gray = try quality(grayImage)
        var (estimated, uniform) = (try quality(image), try quality(uniformImage))
        estimated.compare(withGray: gray)
        uniform.compare(withGray: gray)
        let described = try features?.features(of: [original, image, grayImage, uniformImage])
        let measures = Measures(
            file: photo.reference.description, colored: estimated, gray: gray, uniform: uniform,
            colorfulness: try RetintColor.colorfulness(ofRGB: original.pixels),
            features: described.map {
                Features(original: $0[0], colored: $0[1], gray: $0[2], uniform: $0[3])
            })
        return (
            measures,
            EvaluationReport.ColoredPhoto(
                photo: photo.reference, index: photo.index, original: original, colored: image,
                quality: measures.colored.quality)
        )
    }

    /// - Parameter seen: the model's input.
    private func inColor(_ image: Image, seen: Image) throws -> Image {
        guard case .network = scale else { return try colorizer.colorize(image, seeing: seen) }
        let colors = try colorizer.colors(of: seen)
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
    /// - Returns: nil if there are no photos.
    func report(
        on model: String, _ photos: [Measures], failures: [EvaluationReport.Failure]
    ) -> EvaluationReport? {
        let features = photos.compactMap(\.features)
        let originals = FeatureDistribution(features.map(\.original))
        func column(
            _ quality: (Measures) -> ImageQuality, _ feature: (Features) -> [Double]
        ) -> EvaluationReport.Column? {
            EvaluationReport.Column(
                photos.map(quality),
                frechetDistance: originals?.distance(to: features.map(feature)))
        }
        guard let colored = column(\.colored, \.colored), let gray = column(\.gray, \.gray),
            let meanColor = column(\.uniform, \.uniform)
        else { return nil }
        let (height, width) = colorizer.networkSize
        let colorfulness = photos.reduce(0) { $0 + $1.colorfulness } / Double(photos.count)
        var groups = ABGroupErrors()
        for photo in photos { groups.add(photo.colored.groups) }
        return EvaluationReport(
            model: model, height: height, width: width, colored: colored, gray: gray,
            meanColor: meanColor, originalColorfulness: colorfulness,
            originalNearGrayShare: groups.nearGrayShare, features: self.features?.name,
            damage: OldPhotoSettings.Damage.allCases.filter { oldPhoto[$0] > 0 },
            photos: photos.map { .init(file: $0.file, quality: $0.colored.quality) },
            failures: failures, fitting: scale.isPhoto ? colorizer.fitting : nil)
    }
}

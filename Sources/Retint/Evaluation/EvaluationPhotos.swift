import ImageIO
import Photos

/// The readable photos of an evaluation, and their mean color.
struct EvaluationPhotos {
    struct Photo {
        let reference: PhotoReference
        /// The photo at the size at which it is compared, so that its file is decoded once; nil if
        /// earlier photos filled the memory that is reserved for them.
        let keptImage: Image?

        func image() throws(ImageError) -> Image {
            if let keptImage { return keptImage }
            return try reference.image()
        }
    }

    /// The limit of the memory for decoded photos, in bytes.
    private static let memoryLimit = 1 << 29

    private(set) var photos: [Photo] = []
    private(set) var failures: [EvaluationReport.Failure] = []
    /// The mean a and b of the readable photos.
    let meanColor: (a: Float, b: Float)

    /// Reads photos.
    ///
    /// - Parameter scale: gives photos the size at which they are compared.
    /// - Throws: `EvaluationError` if no photo can be read; `CancellationError`.
    init(
        _ references: [PhotoReference], scale: EvaluationScale,
        isCancelled: () -> Bool, onProgress: (EvaluationProgress) -> Void
    ) throws {
        var (mean, bytes) = (MeanColor(), 0)
        onProgress(.read(photos: 0, total: references.count))
        for (index, reference) in references.enumerated() {
            try checkCancellation(isCancelled)
            do throws(ImageError) {
                let image = try reference.image()
                mean.add(image)
                let scaled = scale.scaled(image)
                bytes += scaled.pixels.count
                let kept = bytes <= Self.memoryLimit ? scaled : nil
                photos.append(Photo(reference: reference, keptImage: kept))
            } catch {
                failures.append(.init(photo: reference, error: error))
                onProgress(.failed(failures[failures.count - 1]))
            }
            onProgress(.read(photos: index + 1, total: references.count))
        }
        meanColor = mean.value
        if photos.isEmpty { throw EvaluationError(failures: failures) }
    }
}

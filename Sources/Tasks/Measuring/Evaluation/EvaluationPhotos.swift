import RetintColoring
import RetintDistributed
import RetintImages
import RetintPhotoData

/// The readable photos of an evaluation, and their mean color.
///
/// Each rank reads its own photos.
struct EvaluationPhotos {
    struct Photo {
        let reference: PhotoReference
        /// The index among all photos, from 0.
        let index: Int
        /// The photo at the size at which it is compared, so that its file is decoded once; nil if
        /// earlier photos filled the memory that is reserved for them.
        let keptImage: Image?

        func image() throws(ImageError) -> Image {
            if let keptImage { return keptImage }
            return try reference.image()
        }
    }

    /// The result of reading a photo.
    private enum Reading: Codable {
        case color(MeanColor)
        case failure(ImageError)
    }

    /// The limit of the memory for decoded photos, in bytes.
    private static let memoryLimit = 1 << 29

    /// The photos that this rank read.
    private(set) var own: [Photo] = []
    /// The number of all photos, readable or not.
    private let total: Int
    /// The number of photos that all ranks read.
    let count: Int
    /// The photos that cannot be read, on any rank.
    let failures: [EvaluationReport.Failure]
    /// The mean a and b of all readable photos.
    let meanColor: MeanColor
    let ranks: Communicator

    /// Reads photos.
    ///
    /// - Parameter scale: resizes photos to the size at which they are compared.
    /// - Throws: `EvaluationError` if no photo can be read; `CancellationError`; `RankError`.
    init(
        _ references: [PhotoReference], scale: EvaluationScale, ranks: Communicator,
        isCancelled: () -> Bool, onProgress: @escaping @Sendable (EvaluationReport.Progress) -> Void
    ) throws {
        (self.ranks, total) = (ranks, references.count)
        let progress = SharedProgress(references.count, ranks) {
            onProgress(.read(photos: $0, total: references.count))
        }
        var (readings, bytes) = ([Reading](), 0)
        for index in ranks.ownIndices(of: references.count) {
            try checkCancellation(isCancelled)
            let reference = references[index]
            do throws(ImageError) {
                let image = try reference.image()
                readings.append(.color(MeanColor(image)))
                let scaled = scale.scaled(image)
                bytes += scaled.pixels.count
                let kept = bytes <= Self.memoryLimit ? scaled : nil
                own.append(Photo(reference: reference, index: index, keptImage: kept))
            } catch {
                readings.append(.failure(error))
            }
            progress.update(readings.count)
        }
        let all = try ranks.gather(readings, of: references.count)
        progress.finish()
        let colors = all.compactMap { if case .color(let color) = $0 { color } else { nil } }
        failures = zip(references, all).compactMap { reference, reading in
            guard case .failure(let error) = reading else { return nil }
            return .init(photo: reference, error: error)
        }
        (count, meanColor) = (colors.count, MeanColor(colors))
        failures.forEach { onProgress(.failed($0)) }
        if colors.isEmpty { throw EvaluationError(failures: failures) }
    }

    /// The results of the readable photos of all ranks, in the order of the photos.
    ///
    /// - Parameter results: the results of this rank, by the index of the photo.
    func gather<Result: Codable>(_ results: [Int: Result]) throws -> [Result] {
        let own = ranks.ownIndices(of: total).map { results[$0] }
        return try ranks.gather(own, of: total).compactMap(\.self)
    }
}

import RetintDistributed
import RetintImages
import RetintPhotoData

/// The center crops of the validation photos that this rank measures.
///
/// The batches of readable photos are distributed round-robin over the ranks. Each rank reads only
/// its own photos. If one cannot be read, the others move up, and a rank may have to read a few
/// more.
struct ValidationCrops {
    let side: Int
    /// The photos that can be read, of all ranks together.
    let count: Int
    /// The photos of a batch; the last one may have fewer.
    let batch: Int
    /// The errors of the other photos, on all ranks, in the order of the photos.
    let badPhotos: [String]
    private let own: [Int: [Image]]

    /// - Parameters:
    ///   - side: the side of a crop in pixels.
    ///   - batch: the largest batch size.
    /// - Throws: ``TrainingError`` if no photo can be read.
    init(
        _ photos: [PhotoReference], side: Int, batch largest: Int, over ranks: Communicator
    ) throws {
        var bad: [Int: String] = [:]
        var images: [Int: Image] = [:]
        while true {
            let readable = photos.indices.filter { bad[$0] == nil }
            guard !readable.isEmpty else {
                throw PhotoCache.noPhotos(of: photos.count, first: bad[0])
            }
            let size = min(largest, readable.count)
            var own: [Int: [Int]] = [:]
            for (position, photo) in readable.enumerated()
            where position / size % ranks.size == ranks.rank {
                own[position / size, default: []].append(photo)
            }
            var failures: [Int: String] = [:]
            for photo in own.values.joined() where images[photo] == nil {
                do throws(ImageError) {
                    let image = try photos[photo].image(scaledToShortSide: 2 * side)
                    images[photo] = Augmentation.center.apply(to: image, side: side)
                } catch {
                    failures[photo] = "\(error)"
                }
            }
            let new = try Self.union(failures, over: ranks)
            guard new.isEmpty else {
                bad.merge(new) { first, _ in first }
                continue
            }
            (self.side, count, self.batch) = (side, readable.count, size)
            badPhotos = bad.sorted { $0.key < $1.key }.map(\.value)
            self.own = own.mapValues { $0.compactMap { images[$0] } }
            return
        }
    }

    /// The crops of one of this rank's batches; empty beyond the last one.
    func images(ofBatch number: Int) -> [Image] { own[number] ?? [] }

    private static func union(
        _ failures: [Int: String], over ranks: Communicator
    ) throws -> [Int: String] {
        try ranks.gather(failures).reduce(into: [:]) { union, next in
            union.merge(next) { first, _ in first }
        }
    }
}

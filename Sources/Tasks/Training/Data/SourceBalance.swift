import Glibc
import RetintLayers
import RetintPhotoData
import RetintTensors

/// How often the photos of each source are seen, so that a few large sets of similar photos are not
/// most of each epoch. The source of a photo is the folder it is in.
///
/// A source of n photos has a share of the examples in proportion to n^(1 − balance): with 0 photos
/// are seen equally often, with 1 sources are. Within a source, no photo is seen again before all
/// were.
struct SourceBalance: Sendable {
    /// The photos of each source.
    let sources: [[Int]]
    /// The number of examples of each source in one pass; their sum is the number of photos.
    let counts: [Int]

    /// - Parameter balance: 0…1.
    /// - Throws: ``TrainingError`` if all photos are in one folder or in packs.
    init(of photos: [PhotoReference], balance: Double) throws {
        let folders = Dictionary(grouping: photos.indices) { photos[$0].folder ?? "" }
        guard folders.count > 1, folders[""] == nil else {
            throw TrainingError(
                .noPhotos, place: "data.source_balance",
                "the source of a photo is its folder, but these photos are "
                    + (folders[""] == nil ? "all in one folder" : "in a packed dataset")
                    + "; put each source in a folder, or set it to 0")
        }
        self.init(
            sources: folders.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                .map(\.value),
            balance: balance)
    }

    init(sources: [[Int]], balance: Double) {
        self.sources = sources
        let shares = sources.map { pow(Double($0.count), 1 - balance) }
        let total = shares.reduce(0, +)
        let examples = sources.map(\.count).reduce(0, +)
        // Cumulative rounding: the counts have exactly the wanted sum.
        var (sum, taken) = (0.0, 0)
        counts = shares.map { share in
            sum += share
            let end = Int((Double(examples) * sum / total).rounded())
            defer { taken = end }
            return end - taken
        }
    }

    /// The photos of a pass, source after source.
    ///
    /// - Parameter number: of the pass, counted over all epochs.
    func photos(pass number: Int, seed: UInt64) -> [Int] {
        zip(sources, counts).enumerated().flatMap { index, source in
            let (photos, count) = source
            let places = number * count..<(number + 1) * count
            guard !places.isEmpty else { return [Int]() }
            let rounds = places.lowerBound / photos.count...(places.upperBound - 1) / photos.count
            let drawn = rounds.flatMap { round in
                var random = RandomStream(seed: seed, name: "source \(index) \(round)")
                return EpochOrder.shuffled(photos, &random)
            }
            let start = places.lowerBound - rounds.lowerBound * photos.count
            return Array(drawn[start..<start + count])
        }
    }
}

import RetintImages
import RetintLocks
import RetintPhotoData
import RetintRuntime

/// Photos by index, decoded, scaled down for the crops, and cached up to a memory limit.
final class PhotoCache: Sendable {
    private struct State {
        var photos: [Int: Image] = [:]
        var bytes = 0
        var bad: [Int: ImageError] = [:]
    }

    let paths: [PhotoReference]
    private let shortSide: Int
    private let maximumBytes: Int
    private let state = Mutex(State())

    /// - Parameter shortSide: the short side that larger photos are scaled down to.
    init(_ paths: [PhotoReference], shortSide: Int, maximumBytes: Int) {
        (self.paths, self.shortSide, self.maximumBytes) = (paths, shortSide, maximumBytes)
    }

    /// The photos of a training run.
    convenience init(_ paths: [PhotoReference], _ data: TrainingConfiguration.DataSettings) {
        self.init(
            paths, shortSide: 2 * data.largestSide, maximumBytes: data.cacheMegabytes << 20)
    }

    /// The photos that could not be read so far, in the order of the paths.
    var badPhotos: [ImageError] {
        state.withLock { $0.bad.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// The photo at `index`, or the next readable one: a damaged photo must not shift those after
    /// it to other steps.
    ///
    /// - Throws: ``TrainingError`` if none can be read.
    func photo(at index: Int) throws -> Image {
        for offset in 0..<paths.count {
            if let photo = readablePhoto((index + offset) % paths.count) { return photo }
        }
        throw Self.noPhotos(of: paths.count, first: badPhotos.first.map { "\($0)" })
    }

    /// The error that none of `count` photos can be read.
    ///
    /// - Parameter first: the error of the first photo.
    static func noPhotos(of count: Int, first: String?) -> TrainingError {
        guard count > 1 else {
            let reason = first.map { ": \($0)" } ?? ""
            return TrainingError(.noPhotos, "the only photo cannot be read\(reason)")
        }
        let reason = first.map { "; the first: \($0)" } ?? ""
        return TrainingError(.noPhotos, "none of the \(count) photos can be read\(reason)")
    }

    /// Whether the photos are in a packed dataset.
    var isPacked: Bool {
        if case .packed = paths.first { true } else { false }
    }

    /// Asks the system to read photos that are not cached, in the order in which packs store them.
    func readAhead(_ indices: [Int]) {
        let missing = state.withLock { state in indices.filter { state.photos[$0] == nil } }
        PhotoReference.readAhead(missing.map { paths[$0] })
    }

    /// The photo at `index`; nil if it cannot be read.
    func readablePhoto(_ index: Int) -> Image? {
        let (cached, isBad) = state.withLock { ($0.photos[index], $0.bad[index] != nil) }
        guard cached == nil, !isBad else { return cached }
        do throws(ImageError) {
            let photo = try paths[index].image(scaledToShortSide: shortSide)
            keep(photo, at: index)
            return photo
        } catch {
            state.withLock { $0.bad[index] = error }
            return nil
        }
    }

    /// Makes room for others in the place of a photo.
    func drop(_ index: Int) {
        state.withLock { state in
            let photo = state.photos.removeValue(forKey: index)
            state.bytes -= photo?.pixels.count ?? 0
        }
    }

    /// Caches a photo if there is memory for it. Photos come in random order, so there is no
    /// point in replacing the first ones.
    private func keep(_ photo: Image, at index: Int) {
        state.withLock { state in
            let bytes = state.bytes + photo.pixels.count
            guard bytes <= maximumBytes, state.photos[index] == nil else { return }
            state.bytes = bytes
            state.photos[index] = photo
        }
    }
}

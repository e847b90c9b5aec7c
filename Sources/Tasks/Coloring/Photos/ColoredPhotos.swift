import RetintImages

extension Colorizer {
    /// Colors photos, several of them at the same time, in order.
    ///
    ///     for try await photo in colorizer.colorized(photos) { show(photo) }
    ///
    /// At most `limit` photos are in flight; the next one is read when a colored one has been
    /// taken, so that memory stays bounded.
    ///
    /// - Parameters:
    ///   - photos: images of any sizes.
    ///   - saturation: a factor for a and b, 1 for the colors as they are estimated.
    ///   - region: the part of each photo to color.
    ///   - limit: the number of photos in flight, at least 1; nil for one more than
    ///     ``workerCount``.
    public func colorized<Photos: AsyncSequence>(
        _ photos: Photos, saturation: Float = 1, in region: ColoredRegion = .init(),
        inFlight limit: Int? = nil
    ) -> ColoredPhotos<Photos> where Photos.Element == Image {
        ColoredPhotos(
            colorizer: self, photos: photos, saturation: saturation, region: region,
            limit: max(limit ?? workerCount + 1, 1))
    }

    /// Colors a batch of photos, several of them at the same time.
    ///
    /// - Parameters:
    ///   - photos: images of any sizes.
    ///   - saturation: a factor for a and b, 1 for the colors as they are estimated.
    ///   - region: the part of each photo to color.
    /// - Returns: the colored photos, in the order of `photos`.
    /// - Throws: `PhotoError` if the region does not fit a photo; `ModelError` if the network
    ///   returns colors that are not finite; `CancellationError` if the task is cancelled.
    public func colorize(
        _ photos: [Image], saturation: Float = 1, in region: ColoredRegion = .init()
    ) async throws -> [Image] {
        var colored: [Image] = []
        colored.reserveCapacity(photos.count)
        let results = colorized(Batch(photos: photos), saturation: saturation, in: region)
        for try await photo in results {
            colored.append(photo)
        }
        return colored
    }
}

/// Colored photos in the order of their source.
///
/// See ``Colorizer/colorized(_:saturation:in:inFlight:)``.
public struct ColoredPhotos<Photos: AsyncSequence>: AsyncSequence where Photos.Element == Image {
    /// A colored photo.
    public typealias Element = Image
    /// The source's error, or an error of coloring a photo.
    public typealias Failure = any Error

    let colorizer: Colorizer
    let photos: Photos
    let saturation: Float
    let region: ColoredRegion
    let limit: Int

    /// Starts to read the photos.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            photos: OrderedMap(photos.makeAsyncIterator(), limit: limit) {
                [colorizer, saturation, region] photo in
                try await colorizer.colorize(photo, saturation: saturation, in: region)
            })
    }

    /// Reads and colors photos ahead of the one that is returned.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var photos: OrderedMap<Photos.AsyncIterator, Image>

        /// The next colored photo; nil at the end.
        ///
        /// - Throws: the source's error, after all photos that were read before it; an error of
        ///   coloring a photo; `CancellationError` if the task is cancelled.
        public mutating func next() async throws -> Image? { try await photos.next() }
    }
}

/// The images of an array, one after another.
private struct Batch: AsyncSequence {
    let photos: [Image]

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<Image>

        mutating func next() async -> Image? { rest.popFirst() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: photos[...]) }
}

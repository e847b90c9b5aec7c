import RetintImages

/// Bounds the photos that are in memory at the same time by their pixels: files of a few kilobytes
/// may have the most that any photo may have, and there may be many threads.
package final class PhotoMemory: Sendable {
    /// The pixels that each thread may have on average.
    private static let pixelsPerPlace = 16_000_000

    private let count: Int
    private let places: WaitingQueue
    /// Only one photo at a time waits for its places, so that two never wait for each other's.
    private let gate = WaitingQueue(1)

    /// - Parameter threads: the number of photos in progress, if they are not large.
    package init(threads: Int) {
        let largest = ImageLimits.default.maximumPixels
        count = max(threads, (largest + Self.pixelsPerPlace - 1) / Self.pixelsPerPlace)
        places = WaitingQueue(count)
    }

    /// Whether a photo needs no more than one thread's part of the memory.
    ///
    /// - Parameter pixels: those of the photo; nil if that is not known.
    package static func isSmall(_ pixels: Int?) -> Bool {
        pixels.map { $0 <= pixelsPerPlace } ?? false
    }

    /// Does work with a photo as soon as it fits, in the order of the calls.
    ///
    /// - Parameter pixels: those of the photo; nil if that is not known.
    /// - Throws: the errors of `body`; `CancellationError` if the task is cancelled before it
    ///   begins.
    package func holding<Result: Sendable>(
        _ pixels: Int?, _ body: () async throws -> Result
    ) async throws -> Result {
        let pixels = pixels ?? ImageLimits.default.maximumPixels
        let needed = min(max(1, (pixels + Self.pixelsPerPlace - 1) / Self.pixelsPerPlace), count)
        var taken: [Int] = []
        defer { for place in taken { places.giveBack(place) } }
        let turn = try await gate.take()
        do {
            while taken.count < needed { taken.append(try await places.take()) }
            gate.giveBack(turn)
        } catch {
            gate.giveBack(turn)
            throw error
        }
        return try await body()
    }
}

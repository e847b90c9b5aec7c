import RetintTestSupport
import Synchronization
import Testing

@testable import Retint

/// Coloring photos from tasks, as a batch and as a stream.
@Suite(.sampled()) struct ColorizerTests {
    private static func photo(_ number: Int) -> Image {
        let (width, height) = (20 + number % 5, 14 + number % 3)
        return Image(
            width: width, height: height,
            pixels: (0..<3 * width * height).map {
                UInt8(truncatingIfNeeded: 20 + $0 &* 13 &+ number &* 29)
            })
    }

    private static func colorizer(threads: Int = 2) throws -> Colorizer {
        let model = try Model(
            Checkpoint(.named("pico-unet"), seed: 1), execution: Execution(threads: threads))
        return try Colorizer(model, size: 32)
    }

    /// Photos that are made on demand, and counted.
    private struct Album: AsyncSequence {
        let count: Int
        let made = Counter()

        final class Counter: Sendable { let value = Atomic(0) }

        struct AsyncIterator: AsyncIteratorProtocol {
            let album: Album
            var next = 0

            mutating func next() async -> Image? {
                guard next < album.count else { return nil }
                next += 1
                album.made.value.store(next, ordering: .relaxed)
                return photo(next - 1)
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(album: self) }
    }

    /// On one thread, so that networks and not last bits of their sums are compared.
    private static func expected(_ count: Int) throws -> [Image] {
        let colorizer = try colorizer(threads: 1)
        return try (0..<count).map { try colorizer.colorize(photo($0)) }
    }

    @Test func aBatchKeepsItsOrder() async throws {
        let expected = try Self.expected(9)
        #expect(Set(expected).count == 9)
        let colored = try await Self.colorizer().colorize((0..<9).map(Self.photo))
        #expect(colored == expected)
        #expect(try await Self.colorizer().colorize([Image]()).isEmpty)
    }

    @Test(arguments: [1, 3, 5])
    func photosInFlightAreBounded(limit: Int) async throws {
        let album = Album(count: 12), expected = try Self.expected(12)
        var count = 0
        for try await colored in try Self.colorizer().colorized(album, inFlight: limit) {
            #expect(album.made.value.load(ordering: .relaxed) <= count + limit)
            #expect(colored == expected[count])
            count += 1
        }
        #expect(count == 12)
    }

    @Test func tasksShareAColorizer() async throws {
        let colorizer = try Self.colorizer(), kinds = 20
        let expected = try Self.expected(kinds)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<50 {
                        let kind = (number * 7 + task) % kinds
                        let colored = try await colorizer.colorize(Self.photo(kind))
                        if colored != expected[kind] { return false }
                    }
                    return true
                }
            }
            for try await isSame in group { #expect(isSame) }
        }
    }

    @Test func cancellationIsNoticedBeforeAPhotoIsPrepared() async throws {
        let colorizer = try Self.colorizer()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await colorizer.colorize(Self.photo(0))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func cancellationEndsAStreamBetweenPhotos() async throws {
        let colorizer = try Self.colorizer(), album = Album(count: .max)
        let task = Task {
            var count = 0
            for try await _ in colorizer.colorized(album) {
                count += 1
                if count == 3 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(album.made.value.load(ordering: .relaxed) <= 3 + colorizer.workerCount + 1)
        _ = try await colorizer.colorize(Self.photo(0))
    }
}

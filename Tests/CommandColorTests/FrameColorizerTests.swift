import RetintCommandSupport
import RetintTestSupport
import Synchronization
import Testing

@testable import Retint

/// Coloring frames from tasks and as a stream.
@Suite(.sampled()) struct FrameColorizerTests {
    static let format = try! FrameFormat(width: 16, height: 12)

    private static func frame(_ number: Int) throws -> Frame {
        func plane(_ width: Int, _ height: Int) -> Frame.Plane {
            Frame.Plane(
                bytes: (0..<width * height).map {
                    UInt8(truncatingIfNeeded: 20 + $0 &* 13 &+ number &* 29)
                }, bytesPerRow: width)
        }
        return try Frame(format, luma: plane(16, 12), cb: plane(8, 6), cr: plane(8, 6))
    }

    private static func colorizer(threads: Int = 2) throws -> FrameColorizer {
        let model = try Model(
            Checkpoint(.named("pico-unet"), seed: 1), execution: Execution(threads: threads))
        return try FrameColorizer(model, format, FrameColoringOptions(size: 32))
    }

    private static func livelyModel() throws -> Model {
        let bench = try CommandBench()
        return try Model(contentsOf: bench.path(bench.makeLivelyCheckpoint()))
    }

    /// Eight frames; the fifth begins another scene.
    private static func twoScenes() throws -> [Frame] {
        let scratch = try TemporaryFolder(), path = scratch.path("video.y4m")
        try AtomicFile.write(Array(VideoEvaluationTests.video()), to: path)
        let reader = try FrameReader(contentsOf: path)
        var frames: [Frame] = []
        while let frame = try reader.next() { frames.append(frame) }
        return frames
    }

    /// Frames that are made on demand, and counted.
    private struct Video: AsyncSequence {
        struct Broken: Error {}

        final class Counter: Sendable {
            let made = Atomic(0)
        }

        let count: Int
        var fails = false
        let counter = Counter()

        struct AsyncIterator: AsyncIteratorProtocol {
            let video: Video
            var next = 0

            mutating func next() async throws -> Frame? {
                guard next < video.count else {
                    if video.fails { throw Broken() }
                    return nil
                }
                next += 1
                video.counter.made.store(next, ordering: .relaxed)
                return try frame(next - 1)
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(video: self) }
    }

    @Test(arguments: [1, 3, 5])
    func framesStayInOrderAndAreBounded(limit: Int) async throws {
        let colorizer = try Self.colorizer(), video = Video(count: 12)
        var count = 0
        for try await colored in colorizer.colorized(video, inFlight: limit) {
            #expect(video.counter.made.load(ordering: .relaxed) <= count + limit)
            #expect(colored.luma.bytes == (try Self.frame(count)).luma.bytes)
            count += 1
        }
        #expect(count == 12)
    }

    /// Within a scene colors follow those before; the first frame after a cut is colored by itself.
    @Test func stableColorsEndWithTheScene() async throws {
        let frames = try Self.twoScenes()
        var model = try Self.livelyModel()
        let format = frames[0].format
        model.execution.threads = 2
        var options = FrameColoringOptions(size: 64)
        let stable = try FrameColorizer(model, format, options)
        var colored: [Frame] = []
        for try await frame in stable.colorized(frames.async) { colored.append(frame) }
        options.stableColors = false
        let alone = try FrameColorizer(model, format, options)
        var differs: [Bool] = []
        for (frame, stable) in zip(frames, colored) {
            differs.append(try await alone.colorize(frame) != stable)
        }
        #expect(differs == [false, true, true, true, false, true, true, true])
        var unchained: [Frame] = []
        for try await frame in alone.colorized(frames.async) { unchained.append(frame) }
        #expect(try await unchained[1] == alone.colorize(frames[1]))
    }

    /// The second scene has an anchor in red; the first one is as without.
    @Test func anchorsColorTheirScene() async throws {
        let frames = try Self.twoScenes()
        let red = FrameReducer(frames[4].format, width: 96, height: 64).image(of: frames[4])
            .withColor(
                a: [Float](repeating: 40, count: 96 * 64),
                b: [Float](repeating: 20, count: 96 * 64))
        let other = Image(width: 96, height: 64, red: 9, green: 9, blue: 9)
        var options = FrameColoringOptions(size: 64)
        let plain = try FrameColorizer(Self.livelyModel(), frames[0].format, options)
        options.anchors = [other, red]
        let anchored = try FrameColorizer(Self.livelyModel(), frames[0].format, options)
        var (with, without): ([Frame], [Frame]) = ([], [])
        for try await frame in anchored.colorized(frames.async) { with.append(frame) }
        for try await frame in plain.colorized(frames.async) { without.append(frame) }
        #expect(with[..<4] == without[..<4])
        for frame in with[4...] {
            let colors = lab(
                fromRGB: FrameReducer(frame.format, width: 24, height: 16).image(of: frame).pixels)
            // Where Y' allows it, the color is that of the anchor.
            #expect(colors.a.sorted()[colors.count / 2] > 25)
        }
        #expect(anchored.unseenAnchors == [0])
    }

    @Test func anchorsAreWholeFrames() throws {
        var options = FrameColoringOptions(size: 32)
        options.anchors = [Image(width: 16, height: 11, red: 0, green: 0, blue: 0)]
        #expect(throws: FrameError.self) {
            try FrameColorizer(Self.livelyModel(), Self.format, options)
        }
    }

    @Test func aVideosErrorComesAfterItsFrames() async throws {
        var count = 0
        await #expect(throws: Video.Broken.self) {
            for try await _ in try Self.colorizer().colorized(Video(count: 4, fails: true)) {
                count += 1
            }
        }
        #expect(count == 4)
    }

    /// 1,000 frames from eight tasks are the same bits as one by one.
    @Test func tasksShareAColorizer() async throws {
        let colorizer = try Self.colorizer(), kinds = 20
        var expected: [Frame] = []
        for number in 0..<kinds {
            expected.append(try await colorizer.colorize(Self.frame(number)))
        }
        let wanted = expected
        #expect(Set(wanted).count == kinds)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<125 {
                        let kind = (number * 7 + task) % kinds
                        let colored = try await colorizer.colorize(Self.frame(kind))
                        if colored != wanted[kind] { return false }
                    }
                    return true
                }
            }
            for try await isSame in group { #expect(isSame) }
        }
    }

    @Test func cancellationEndsTheStreamAndLeavesTheColorizer() async throws {
        let colorizer = try Self.colorizer()
        let video = Video(count: .max)
        let task = Task {
            var count = 0
            for try await _ in colorizer.colorized(video) {
                count += 1
                if count == 3 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        // The three that were taken, and those in flight.
        #expect(video.counter.made.load(ordering: .relaxed) <= 3 + colorizer.workerCount + 1)
        _ = try await colorizer.colorize(Self.frame(0))
    }

    @Test func waitingTasksCanBeCancelled() async throws {
        let colorizer = try Self.colorizer(threads: 1)
        let tasks = try (0..<6).map { number in
            let frame = try Self.frame(number)
            return Task { try await colorizer.colorize(frame) }
        }
        for task in tasks.suffix(3) { task.cancel() }
        for task in tasks.prefix(3) { _ = try await task.value }
        for task in tasks.suffix(3) {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        _ = try await colorizer.colorize(Self.frame(0))
    }

    /// A slow reader gets the newest frames; all others are counted.
    @Test func lateFramesAreDroppedAndCounted() async throws {
        let frames = try (0..<200).map { try Self.frame($0) }
        let numbers = Dictionary(
            uniqueKeysWithValues: frames.enumerated().map { ($1.luma.bytes, $0) })
        try #require(numbers.count == 200)
        let latest = try Self.colorizer().latest(of: Video(count: 200))
        var seen: [Int] = []
        for try await colored in latest {
            seen.append(try #require(numbers[colored.luma.bytes]))
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(seen == seen.sorted() && Set(seen).count == seen.count)
        #expect(seen.count < 200 && seen.last == 199)
        #expect(seen.count + latest.droppedCount == 200)
    }

    @Test func aLiveSourcesErrorIsThrown() async throws {
        await #expect(throws: Video.Broken.self) {
            for try await _ in try Self.colorizer().latest(of: Video(count: 3, fails: true)) {}
        }
    }

    @Test func cancellationEndsALiveStream() async throws {
        let video = Video(count: .max)
        let colorizer = try Self.colorizer()
        let task = Task {
            var count = 0
            for try await _ in colorizer.latest(of: video) {
                count += 1
                if count == 3 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        // The source is no longer read.
        try await Task.sleep(for: .milliseconds(200))
        let made = video.counter.made.load(ordering: .relaxed)
        try await Task.sleep(for: .milliseconds(50))
        #expect(video.counter.made.load(ordering: .relaxed) == made)
        _ = try await colorizer.colorize(Self.frame(0))
    }

    @Test func waitingIsInOrder() async throws {
        final class Order: Sendable {
            let numbers = Mutex<[Int]>([])
        }
        let queue = WaitingQueue(1), order = Order()
        let first = try await queue.take()
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<5 {
            tasks.append(
                Task {
                    let index = try await queue.take()
                    order.numbers.withLock { $0.append(number) }
                    queue.giveBack(index)
                })
            // Until it waits.
            try await Task.sleep(for: .milliseconds(50))
        }
        queue.giveBack(first)
        for task in tasks { try await task.value }
        #expect(order.numbers.withLock { $0 } == [0, 1, 2, 3, 4])
    }

    /// Photos of the most pixels are in memory one at a time, small ones as many as threads.
    @Test(arguments: [(64_000_000, 1), (nil, 1), (33_000_000, 1), (16_000_000, 4), (100, 4)])
    func largePhotosWaitForEachOther(pixels: Int?, most: Int) async throws {
        final class Count: Sendable {
            let held = Mutex((now: 0, most: 0))
        }
        let memory = PhotoMemory(threads: 4), count = Count()
        let tasks = (0..<8).map { _ in
            Task {
                try await memory.holding(pixels) {
                    count.held.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                    try await Task.sleep(for: .milliseconds(100))
                    count.held.withLock { $0.now -= 1 }
                }
            }
        }
        for task in tasks { try await task.value }
        #expect(count.held.withLock { $0.most } == most)
    }

    @Test func framesOfAnotherFormatAreRefused() async throws {
        let other = try FrameFormat(width: 2, height: 2, chroma: .mono)
        let frame = try Frame(other, luma: Frame.Plane(bytes: [1, 2, 3, 4], bytesPerRow: 2))
        let error = await #expect(throws: FrameError.self) {
            try await Self.colorizer().colorize(frame)
        }
        #expect(error?.kind == .format)
    }
}

extension Array where Element: Sendable {
    /// The elements as an asynchronous sequence.
    fileprivate var async: AsyncStream<Element> {
        AsyncStream { continuation in
            for element in self { continuation.yield(element) }
            continuation.finish()
        }
    }
}

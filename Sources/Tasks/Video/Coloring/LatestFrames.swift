import Synchronization

extension FrameColorizer {
    /// Colors the frames of a camera or another live source, and drops those that come too late.
    ///
    ///     let colored = colorizer.latest(of: camera.frames)
    ///     for try await frame in colored { show(frame) }
    ///     print(colored.droppedCount, "frames were dropped")
    ///
    /// From this call on, the source is read as fast as it provides frames. One frame is colored at
    /// a time: when it is done, the newest frame is next, and those in between are dropped. So the
    /// colored frames never lag behind by more than the time of two frames.
    ///
    /// Per-frame masks have no order here: all frames get the first one.
    ///
    /// - Parameter frames: frames in ``format``.
    public func latest<Frames: AsyncSequence & SendableMetatype>(
        of frames: sending Frames
    ) -> LatestFrames where Frames.Element == Frame, Frames.AsyncIterator: SendableMetatype {
        LatestFrames(self, frames)
    }
}

/// Colored frames of a live source; see ``FrameColorizer/latest(of:)``.
///
/// Only one loop can read them.
public struct LatestFrames: AsyncSequence, Sendable {
    /// A colored frame.
    public typealias Element = Frame
    /// The source's error, or an error of coloring a frame.
    public typealias Failure = any Error

    private let colorizer: FrameColorizer
    private let newest: AsyncThrowingStream<Frame, any Error>
    private let dropped: DropCounter

    fileprivate init<Frames: AsyncSequence & SendableMetatype>(
        _ colorizer: FrameColorizer, _ frames: sending Frames
    ) where Frames.Element == Frame, Frames.AsyncIterator: SendableMetatype {
        self.colorizer = colorizer
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: Frame.self, bufferingPolicy: .bufferingNewest(1))
        let dropped = DropCounter()
        (newest, self.dropped) = (stream, dropped)
        let source = Task {
            do {
                for try await frame in frames {
                    if case .dropped = continuation.yield(frame) { dropped.add() }
                    try Task.checkCancellation()
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in source.cancel() }
    }

    /// The number of frames that were dropped so far.
    public var droppedCount: Int { dropped.count }

    /// Reads the frames, starting with the newest one.
    public func makeAsyncIterator() -> Iterator {
        Iterator(colorizer: colorizer, frames: newest.makeAsyncIterator())
    }

    /// Colors the newest frame when the next one is requested.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let colorizer: FrameColorizer
        fileprivate var frames: AsyncThrowingStream<Frame, any Error>.Iterator
        private var latest: ChainedFrame?

        fileprivate init(
            colorizer: FrameColorizer, frames: AsyncThrowingStream<Frame, any Error>.Iterator
        ) {
            (self.colorizer, self.frames) = (colorizer, frames)
        }

        /// The next colored frame; nil at the end of the source.
        ///
        /// - Throws: the source's error; the error of coloring a frame; `CancellationError` if the
        ///   task is cancelled.
        public mutating func next() async throws -> Frame? {
            guard let frame = try await frames.next() else {
                try Task.checkCancellation()
                return nil
            }
            let chained = ChainedFrame(frame, index: 0, after: latest, with: colorizer)
            latest = chained
            return try await chained.value
        }
    }
}

private final class DropCounter: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .relaxed) }

    func add() { value.add(1, ordering: .relaxed) }
}

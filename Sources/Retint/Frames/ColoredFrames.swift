import Frames

extension FrameColorizer {
    /// Colors the frames of a film, in order.
    ///
    ///     let film = try Y4MReader(contentsOf: "gray.y4m")
    ///     let colorizer = try FrameColorizer(model, film.header.format)
    ///     let output = try Y4MWriter(film.header.colored, to: "colored.y4m")
    ///     for try await frame in colorizer.colorized(film.frames) { try output.write(frame) }
    ///
    /// Every frame is colored. At most `limit` frames are in flight; the next one is read when a
    /// colored one was taken, so that a slow reader slows the film down and memory stays bounded.
    ///
    /// - Parameters:
    ///   - frames: of ``format``.
    ///   - limit: the number of frames in flight, at least 1; nil for one more than
    ///     ``workerCount``.
    public func colorized<Frames: AsyncSequence>(
        _ frames: Frames, inFlight limit: Int? = nil
    ) -> ColoredFrames<Frames> where Frames.Element == Frame {
        ColoredFrames(colorizer: self, frames: frames, limit: max(limit ?? workerCount + 1, 1))
    }
}

/// Colored frames in the order of the film; see ``FrameColorizer/colorized(_:inFlight:)``.
public struct ColoredFrames<Frames: AsyncSequence>: AsyncSequence where Frames.Element == Frame {
    /// A colored frame.
    public typealias Element = Frame
    /// The film's error, or that of coloring a frame.
    public typealias Failure = any Error

    let colorizer: FrameColorizer
    let frames: Frames
    let limit: Int

    /// Starts to read the film.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            colorizer: colorizer, limit: limit, frames: frames.makeAsyncIterator(),
            tasks: FramesInFlight())
    }

    /// Reads and colors frames ahead of the one that is returned.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let colorizer: FrameColorizer
        fileprivate let limit: Int
        fileprivate var frames: Frames.AsyncIterator
        fileprivate let tasks: FramesInFlight
        /// What ended the film, once it has been read to the end.
        private var ending: Result<Void, any Error>?
        private var latest: ChainedFrame?

        fileprivate init(
            colorizer: FrameColorizer, limit: Int, frames: Frames.AsyncIterator,
            tasks: FramesInFlight
        ) {
            (self.colorizer, self.limit, self.frames, self.tasks) = (
                colorizer, limit, frames, tasks
            )
        }

        /// The next colored frame; nil at the end.
        ///
        /// - Throws: the film's error, after all frames that were read before it; the error of
        ///   coloring a frame; `CancellationError` if the task is cancelled.
        public mutating func next() async throws -> Frame? {
            try Task.checkCancellation()
            await fill()
            guard let first = tasks.removeFirst() else {
                try ending?.get()
                return nil
            }
            return try await first.value
        }

        /// Reads frames until the limit is reached.
        private mutating func fill() async {
            while ending == nil, tasks.count < limit {
                do {
                    guard let frame = try await frames.next() else {
                        ending = .success(())
                        return
                    }
                    let chained = ChainedFrame(frame, after: latest, with: colorizer)
                    tasks.append(chained)
                    latest = chained
                } catch {
                    ending = .failure(error)
                }
            }
        }
    }
}

/// The frames that are being colored, the oldest first; they are cancelled with their reader.
private final class FramesInFlight {
    private var frames: [ChainedFrame] = []

    var count: Int { frames.count }

    func append(_ frame: ChainedFrame) { frames.append(frame) }

    func removeFirst() -> ChainedFrame? { frames.isEmpty ? nil : frames.removeFirst() }

    deinit { for frame in frames { frame.cancel() } }
}

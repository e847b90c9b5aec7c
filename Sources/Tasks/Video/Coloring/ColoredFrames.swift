import RetintColoring

extension FrameColorizer {
    /// Colors the frames of a video, in order.
    ///
    ///     let video = try FrameReader(contentsOf: "gray.y4m")
    ///     let colorizer = try FrameColorizer(model, video.header.format)
    ///     let output = try FrameWriter(video.header.colored, to: "colored.y4m")
    ///     for try await frame in colorizer.colorized(video.frames) { try output.write(frame) }
    ///
    /// Every frame is colored. At most `limit` frames are in flight; the next one is read when a
    /// colored one has been taken, so that a slow consumer slows down reading and memory stays
    /// bounded.
    ///
    /// - Parameters:
    ///   - frames: frames in ``format``.
    ///   - first: the index of the first frame in the video, for per-frame masks.
    ///   - limit: the number of frames in flight, at least 1; nil for one more than
    ///     ``workerCount``.
    public func colorized<Frames: AsyncSequence>(
        _ frames: Frames, from first: Int = 0, inFlight limit: Int? = nil
    ) -> ColoredFrames<Frames> where Frames.Element == Frame {
        ColoredFrames(
            colorizer: self, frames: frames, first: first, limit: max(limit ?? workerCount + 1, 1))
    }
}

/// Colored frames in the order of the video; see ``FrameColorizer/colorized(_:from:inFlight:)``.
public struct ColoredFrames<Frames: AsyncSequence>: AsyncSequence where Frames.Element == Frame {
    /// A colored frame.
    public typealias Element = Frame
    /// The video's error, or an error of coloring a frame.
    public typealias Failure = any Error

    let colorizer: FrameColorizer
    let frames: Frames
    let first: Int
    let limit: Int

    /// Starts to read the video.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            Chain(frames: frames.makeAsyncIterator(), colorizer: colorizer, first: first), limit)
    }

    /// Reads and colors frames ahead of the one that is returned.
    public struct Iterator: AsyncIteratorProtocol {
        private var colored: OrderedMap<Chain<Frames.AsyncIterator>, Frame>

        fileprivate init(_ chain: Chain<Frames.AsyncIterator>, _ limit: Int) {
            colored = OrderedMap(chain, limit: limit) { try await $0.value }
        }

        /// The next colored frame; nil at the end.
        ///
        /// - Throws: the video's error, after all frames that were read before it; an error of
        ///   coloring a frame; `CancellationError` if the task is cancelled.
        public mutating func next() async throws -> Frame? { try await colored.next() }
    }
}

/// Starts to color each frame after the previous one.
private struct Chain<Frames: AsyncIteratorProtocol>: AsyncIteratorProtocol
where Frames.Element == Frame {
    private var frames: Frames
    private let colorizer: FrameColorizer
    private var latest: ChainedFrame?
    /// The index of the next frame.
    private var index: Int

    init(frames: Frames, colorizer: FrameColorizer, first: Int) {
        (self.frames, self.colorizer, index) = (frames, colorizer, first)
    }

    mutating func next() async throws -> ChainedFrame? {
        let start = ContinuousClock.now
        guard let frame = try await frames.next() else { return nil }
        colorizer.clock.add(.input, since: start)
        let chained = ChainedFrame(frame, index: index, after: latest, with: colorizer)
        latest = chained
        index += 1
        return chained
    }
}

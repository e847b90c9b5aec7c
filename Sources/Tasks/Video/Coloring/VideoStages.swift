import RetintLocks

extension ColoredVideo {
    /// A stage of coloring a video.
    public enum Stage: String, CaseIterable, Hashable, Sendable, Encodable, CodingKeyRepresentable {
        /// Reading frames, and waiting for a decoder or a camera.
        case input
        /// Reducing Y' to the network's size.
        case resizing
        /// The network.
        case network
        /// Finding the motion since the previous frame, and following its colors and those of
        /// anchors.
        case smoothing
        /// Upsampling the colors, and writing them into Cb and Cr.
        case painting
        /// Writing frames, and waiting for an encoder.
        case output
    }
}

extension ColoredVideo {
    /// The time that the stages of coloring a video took.
    ///
    /// Each stage is timed on the thread that runs it, and several frames are colored at the same
    /// time, so that the sum may be longer than the elapsed time.
    public struct StageTimes: Hashable, Sendable, Encodable {
        /// The seconds of each stage, over all frames.
        public internal(set) var seconds: [ColoredVideo.Stage: Double] = [:]

        /// The fraction of all stages' time that a stage took, 0…1; 0 if nothing was measured.
        public func share(of stage: ColoredVideo.Stage) -> Double {
            let total = seconds.values.reduce(0, +)
            return total > 0 ? seconds[stage, default: 0] / total : 0
        }

        /// ``share(of:)`` of all stages.
        package var shares: [ColoredVideo.Stage: Double] {
            Dictionary(
                uniqueKeysWithValues: ColoredVideo.Stage.allCases.map { ($0, share(of: $0)) })
        }
    }
}

/// Adds up the times of the stages. It may be shared between threads.
package final class VideoStageClock: Sendable {
    private let total = Mutex(ColoredVideo.StageTimes())

    /// The times so far.
    package var times: ColoredVideo.StageTimes { total.withLock { $0 } }

    /// Times a piece of work.
    package func measure<Value, Failure>(
        _ stage: ColoredVideo.Stage, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let start = ContinuousClock.now
        defer { add(stage, since: start) }
        return try body()
    }

    /// Adds the time since an instant to a stage.
    package func add(_ stage: ColoredVideo.Stage, since start: ContinuousClock.Instant) {
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        total.withLock { $0.seconds[stage, default: 0] += seconds }
    }
}

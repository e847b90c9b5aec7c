extension PerformanceReport {
    /// How a model keeps up with a live source, such as a camera, whose frames arrive at fixed
    /// times.
    ///
    /// This is an exact simulation from a sequence of measured durations, not a run at that rate: a
    /// processor that idles between frames may be slower or faster. Frame k arrives at k / fps. A
    /// prediction starts when the previous one has ended and a frame is waiting. A frame that
    /// arrives during a prediction waits; if another one arrives, the waiting one is dropped. A
    /// frame that arrives exactly when a prediction ends is colored next. The source ends with the
    /// last frame that is colored.
    public struct LiveSource: Hashable, Sendable, Encodable {
        /// Frames per second.
        public let fps: Double
        /// The time from one frame to the next; a frame must be colored this soon after its
        /// arrival.
        public let deadlineSeconds: Double
        /// The number of frames that arrived.
        public let frames: Int
        /// The number of frames that were colored: the number of durations.
        public let colored: Int
        /// The number of frames that were replaced by newer ones before they were colored.
        public let dropped: Int
        /// The number of frames that were colored at most ``deadlineSeconds`` after their arrival.
        public let inTime: Int
        /// ``inTime`` divided by ``frames``.
        public let inTimeShare: Double
        /// The colored frames per second of the source.
        public let coloredPerSecond: Double
        /// The time from a frame's arrival to its colors, over the colored frames.
        public let latency: PerformanceReport.DurationSummary

        /// Simulates the source.
        ///
        /// - Parameters:
        ///   - fps: frames per second, above 0.
        ///   - seconds: how long each prediction takes, in order.
        public init(fps: Double, predictions seconds: [Double]) {
            var latencies: [Double] = []
            var next = 0.0
            var end = 0.0
            for duration in seconds {
                // The newest waiting frame, or else the next one that arrives.
                let frame = max(next, (end * fps).rounded(.down))
                let start = max(end, frame / fps)
                // A sum of two durations: exact for a frame that did not wait.
                latencies.append(start - frame / fps + duration)
                (next, end) = (frame + 1, start + duration)
            }
            let interval = 1 / fps
            self.fps = fps
            deadlineSeconds = interval
            (frames, colored) = (Int(next), seconds.count)
            dropped = frames - colored
            inTime = latencies.count { $0 <= interval }
            inTimeShare = frames > 0 ? Double(inTime) / next : .nan
            coloredPerSecond = frames > 0 ? Double(colored) * fps / next : .nan
            latency = PerformanceReport.DurationSummary(latencies)
        }

        /// Common frame rates of videos and cameras.
        static let commonRates = [24.0, 25, 30, 50, 60]
    }
}

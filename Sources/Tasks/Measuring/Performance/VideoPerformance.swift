import Foundation
import RetintEngine
import RetintRuntime
import RetintVideo

extension PerformanceReport {
    /// How fast a model colors a video, and what takes the time.
    public struct VideoPerformance: Sendable, Encodable {
        /// The path of the video.
        public let name: String
        /// The width of its frames in pixels.
        public let width: Int
        /// The height of its frames in pixels.
        public let height: Int
        /// Whether the colors followed those of previous frames.
        public let stableColors: Bool
        /// The number of frames that were colored, from the start of the video: as many as fit in
        /// the time and in the temporary file.
        public let frames: Int
        /// The time for these frames in seconds.
        public let seconds: Double
        /// ``frames`` divided by ``seconds``.
        public let framesPerSecond: Double
        /// The peak of the process's resident bytes during that time; nil if the system does not
        /// let the peak be reset.
        public let peakBytes: Int?
        /// The time of each stage, on all threads.
        public let stages: ColoredVideo.StageTimes
        /// The share of each stage in the time of all stages, 0…1.
        public let shares: [ColoredVideo.Stage: Double]
    }
}

extension PerformanceReport.VideoPerformance {
    /// The largest size of the temporary file in bytes.
    private static let maximumBytes = 512 << 20

    /// Colors the first frames of a video into a temporary file, which is removed.
    ///
    /// - Throws: the errors of `withVideo` for a video that cannot be read; ``BenchmarkError`` if
    ///   it has no frames; `ModelError` if the model is not a colorizer or does not run at the
    ///   size; `CancellationError` if the task is cancelled.
    static func measured(
        _ model: Model, video: String, _ options: PerformanceOptions
    ) async throws -> Self {
        let output = FileManager.default.temporaryDirectory
            .appending(path: "retint-\(UUID().uuidString).y4m").path
        defer { try? FileManager.default.removeItem(atPath: output) }
        Machine.releaseFreeMemory()
        let measuresMemory = ProcessMemory.resetPeak()
        return try await withVideo(video) { open in
            let header = open.reader.header
            let colorizer = try FrameColorizer(
                model, header.format, FrameColoringOptions(size: options.size), of: video)
            let writer = try FrameWriter(header.colored, to: output)
            let limit = max(maximumBytes / header.colored.format.byteCount, 1)
            let start = ContinuousClock.now
            let colored = try await colorizer.write(
                open.reader, writer, atMost: limit, until: start + .seconds(options.seconds))
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            guard colored > 0 else {
                throw BenchmarkError(.option, file: video, "has no frames to color")
            }
            let stages = colorizer.clock.times
            return PerformanceReport.VideoPerformance(
                name: video, width: header.format.width, height: header.format.height,
                stableColors: colorizer.hasStableColors, frames: colored, seconds: seconds,
                framesPerSecond: Double(colored) / seconds,
                peakBytes: measuresMemory ? ProcessMemory.peakBytes : nil, stages: stages,
                shares: stages.shares)
        }
    }
}

extension FrameColorizer {
    /// Colors frames from the start of a video.
    ///
    /// - Returns: their number.
    fileprivate func write(
        _ reader: FrameReader, _ writer: FrameWriter, atMost limit: Int,
        until deadline: ContinuousClock.Instant
    ) async throws -> Int {
        var count = 0
        for try await frame in colorized(reader.frames) {
            try write(frame, writer)
            count += 1
            if count == limit || ContinuousClock.now >= deadline { break }
        }
        return count
    }
}

/// A frame that is being colored, and that the colors of the next one may follow.
///
/// The network runs on several frames at the same time; only the last step waits for the previous
/// frame, because it uses its colors.
struct ChainedFrame: Sendable {
    private struct Link {
        let estimate: Task<FrameEstimate, any Error>
        let colors: Task<StableColors, any Error>
    }

    /// Nil for a frame that is colored independently.
    private let link: Link?
    private let result: Task<Frame, any Error>

    /// Starts to color a frame.
    ///
    /// - Parameters:
    ///   - index: the index of the frame in its video.
    ///   - previous: the previous frame; nil for the first one.
    init(
        _ frame: Frame, index: Int, after previous: ChainedFrame?, with colorizer: FrameColorizer
    ) {
        guard colorizer.hasStableColors else {
            link = nil
            result = Task { try await colorizer.colorize(frame, index: index) }
            return
        }
        let estimate = Task { try await colorizer.onWorker { try $0.estimate(frame, $1) } }
        let colors = Task { [before = previous?.link] in
            try await Self.colors(estimate, after: before, with: colorizer)
        }
        result = Task {
            let colors = try await colors.value
            return try await colorizer.onWorker { worker, _ in
                try colorizer.mixed(
                    try worker.colored(frame, colors), with: frame, index: index)
            }
        }
        link = Link(estimate: estimate, colors: colors)
    }

    private static func colors(
        _ estimate: Task<FrameEstimate, any Error>, after before: Link?,
        with colorizer: FrameColorizer
    ) async throws -> StableColors {
        let (own, earlier) = (try await estimate.value, try await before?.estimate.value)
        // The motion search needs no colors, so it does not wait for previous frames.
        let (motion, leads) = try await colorizer.onWorker { _, _ in
            colorizer.clock.measure(.smoothing) {
                (
                    earlier.map { MotionField(from: own.lightness, to: $0.lightness) },
                    colorizer.anchors.motions(from: own.lightness)
                )
            }
        }
        let last = try await before?.colors.value
        return colorizer.clock.measure(.smoothing) {
            var colors =
                if let last, let motion { last.next(own, motion: motion) } else {
                    StableColors(own)
                }
            colorizer.anchors.lead(&colors, leads)
            return colors
        }
    }

    /// The colored frame; abandoned if the task is cancelled.
    var value: Frame {
        get async throws {
            try await withTaskCancellationHandler {
                try await result.value
            } onCancel: {
                cancel()
            }
        }
    }

    func cancel() {
        link?.estimate.cancel()
        link?.colors.cancel()
        result.cancel()
    }
}

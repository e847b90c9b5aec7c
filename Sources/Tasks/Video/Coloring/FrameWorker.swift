import RetintLocks
import RetintRuntime

/// A compiled network that one thread uses at a time.
final class FrameWorker: Sendable {
    private let program: Mutex<ModelProgram>
    private let view: FrameView
    private let saturation: Float
    private let clock: VideoStageClock

    /// - Parameter saturation: a factor for the network's a and b.
    init(
        _ program: sending ModelProgram, _ view: FrameView, saturation: Float,
        _ clock: VideoStageClock
    ) {
        self.program = Mutex(program)
        (self.view, self.saturation, self.clock) = (view, saturation, clock)
    }

    /// Colors a frame independently of others.
    ///
    /// - Throws: `CancellationError` between two steps of the network.
    func colored(_ frame: Frame, _ cancellation: CancellationFlag) throws -> Frame {
        let ab = try colors(of: lightness(of: frame), cancellation).ab
        return try clock.measure(.painting) {
            try view.colored(frame, a: ab.colorPlane(0), b: ab.colorPlane(1))
        }
    }

    private func lightness(of frame: Frame) throws -> [Float] {
        try clock.measure(.resizing) { try view.lightness(of: frame) }
    }

    private func colors(
        of lightness: [Float], _ cancellation: CancellationFlag
    ) throws -> ColorEstimate {
        try clock.measure(.network) {
            try program.withLock { program in
                try program.estimate(lightness: lightness) { cancellation.isSet }
            }.saturated(by: saturation)
        }
    }

    /// The network's estimate for a frame.
    ///
    /// - Throws: `CancellationError` between two steps of the network.
    func estimate(_ frame: Frame, _ cancellation: CancellationFlag) throws -> FrameEstimate {
        let input = try lightness(of: frame)
        let estimate = try colors(of: input, cancellation)
        return clock.measure(.smoothing) {
            FrameEstimate(estimate, lightness: input, width: view.width, height: view.height)
        }
    }

    /// The frame in given colors.
    func colored(_ frame: Frame, _ colors: StableColors) throws -> Frame {
        try clock.measure(.painting) { try view.colored(frame, a: colors.a, b: colors.b) }
    }
}

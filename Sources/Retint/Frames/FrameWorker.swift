import Frames
import Models
import Motion
import Synchronization

/// A compiled network that one thread uses at a time.
final class FrameWorker: Sendable {
    private let program: Mutex<ModelProgram>
    private let view: FrameView

    init(_ program: sending ModelProgram, _ view: FrameView) {
        self.program = Mutex(program)
        self.view = view
    }

    /// Colors a frame by itself.
    ///
    /// - Throws: `CancellationError` between two steps of the network.
    func colored(_ frame: Frame, _ cancellation: CancellationFlag) throws -> Frame {
        let ab = try colors(of: view.lightness(of: frame), cancellation).ab
        return try view.colored(frame, a: ab.colorPlane(0), b: ab.colorPlane(1))
    }

    private func colors(
        of lightness: [Float], _ cancellation: CancellationFlag
    ) throws -> ColorEstimate {
        try program.withLock { program in
            try program.estimate(lightness: lightness) { cancellation.isSet }
        }
    }

    /// What the network says about a frame.
    ///
    /// - Throws: `CancellationError` between two steps of the network.
    func estimate(_ frame: Frame, _ cancellation: CancellationFlag) throws -> FrameEstimate {
        let input = try view.lightness(of: frame)
        let estimate = try colors(of: input, cancellation)
        return FrameEstimate(estimate, lightness: input, width: view.width, height: view.height)
    }

    /// The frame in given colors.
    func colored(_ frame: Frame, _ colors: StableColors) throws -> Frame {
        try view.colored(frame, a: colors.a, b: colors.b)
    }
}

import Frames
import Models
import Motion
import Synchronization

/// A compiled network that one thread uses at a time.
final class FrameWorker: Sendable {
    private let program: Mutex<ModelProgram>
    private let lightness: FrameLightness
    private let painter: FramePainter

    init(_ program: sending ModelProgram, _ lightness: FrameLightness, _ painter: FramePainter) {
        self.program = Mutex(program)
        (self.lightness, self.painter) = (lightness, painter)
    }

    /// Colors a frame by itself.
    ///
    /// - Throws: `CancellationError` between two steps of the network.
    func colored(_ frame: Frame, _ cancellation: CancellationFlag) throws -> Frame {
        let ab = try colors(of: checkedLightness(of: frame), cancellation).ab
        return try painter.colored(frame, a: ab.colorPlane(0), b: ab.colorPlane(1))
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
        let input = try checkedLightness(of: frame)
        let estimate = try colors(of: input, cancellation)
        return FrameEstimate(
            estimate, lightness: input, width: lightness.width, height: lightness.height)
    }

    /// The frame in given colors.
    func colored(_ frame: Frame, _ colors: StableColors) throws -> Frame {
        try painter.colored(frame, a: colors.a, b: colors.b)
    }

    private func checkedLightness(of frame: Frame) throws(FrameError) -> [Float] {
        let (own, format) = (frame.format, painter.format)
        guard own == format else {
            throw FrameError(
                .format,
                "a frame of \(own.width) × \(own.height) where frames of \(format.width) × "
                    + "\(format.height) are colored")
        }
        return lightness.lightness(of: frame)
    }
}

import Dispatch
import Frames
import Models
import Motion
import Synchronization

/// A compiled network and the thread that it runs on.
final class FrameWorker: Sendable {
    private let program: Mutex<ModelProgram>
    private let lightness: FrameLightness
    private let painter: FramePainter
    private let queue = DispatchQueue(label: "retint.frames")

    init(_ program: sending ModelProgram, _ lightness: FrameLightness, _ painter: FramePainter) {
        self.program = Mutex(program)
        (self.lightness, self.painter) = (lightness, painter)
    }

    /// Does something on the worker's thread.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (FrameWorker) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in continuation.resume(with: Result { try body(self) }) }
        }
    }

    /// Colors a frame by itself.
    func colored(_ frame: Frame) throws -> Frame {
        let input = try checkedLightness(of: frame)
        let colors = try program.withLock { try $0.predict(lightness: input) }
        return try painter.colored(frame, a: colors.colorPlane(0), b: colors.colorPlane(1))
    }

    /// What the network says about a frame.
    func estimate(_ frame: Frame) throws -> FrameEstimate {
        let input = try checkedLightness(of: frame)
        let estimate = try program.withLock { try $0.estimate(lightness: input) }
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

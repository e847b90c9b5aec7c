import Dispatch
public import RetintFiles
import RetintLocks

/// The source of a reader's frames.
package protocol FrameSource {
    /// The next frame; nil at the end.
    mutating func next() throws -> Frame?
}

/// Reads the frames of a video one after the other, from a YUV4MPEG2 stream or from a container
/// that FFmpeg reads.
///
/// It may be shared between tasks; each frame is read once.
public final class FrameReader: Sendable {
    /// The properties common to all frames.
    public let header: Y4MHeader
    private let state: Mutex<State>
    /// Reading may have to wait for another program or a camera.
    fileprivate let queue = DispatchQueue(label: "retint.frames.input")

    private struct State {
        var source: any FrameSource
        var hasEnded = false
    }

    /// Opens a file or a named pipe and reads the header.
    ///
    /// - Parameters:
    ///   - path: the stream.
    ///   - range: overrides the range; nil keeps the stream's own range, or assumes limited.
    ///   - matrix: the matrix; nil for that of the height, see
    ///     ``FrameFormat/ColorMatrix/init(height:)``.
    /// - Throws: `FileError` if it cannot be read, ``FrameError`` if its header is damaged or not
    ///   supported.
    public convenience init(
        contentsOf path: some PathConvertible, range: FrameFormat.SampleRange? = nil,
        matrix: FrameFormat.ColorMatrix? = nil
    ) throws {
        // A string does not belong to the region of `path`.
        try self.init(ByteInput(path.filePath.string), range: range, matrix: matrix)
    }

    /// Reads the header from standard input or a pipe.
    package init(
        _ input: sending ByteInput, range: FrameFormat.SampleRange? = nil,
        matrix: FrameFormat.ColorMatrix? = nil
    ) throws {
        let line = try input.line(limit: Y4MHeader.maximumBytes)
        do throws(FrameError) {
            guard let line else { throw FrameError(.truncated, "it is empty") }
            guard line.count < Y4MHeader.maximumBytes else {
                throw FrameError(
                    .format, "its first line has \(line.count) bytes or more: it is not YUV4MPEG2")
            }
            header = try Y4MHeader(
                String(decoding: line, as: UTF8.self), range: range, matrix: matrix)
        } catch {
            throw error.of(input.name)
        }
        state = Mutex(State(source: Y4MFrames(input, header.format)))
    }

    /// Reads frames in another format.
    package init(_ header: Y4MHeader, _ source: sending any FrameSource) {
        self.header = header
        state = Mutex(State(source: source))
    }

    /// The next frame; nil at the end of the stream. This may block.
    ///
    /// - Throws: `FileError` if it cannot be read; ``FrameError`` if the stream is damaged or ends
    ///   inside the frame. The frames before it are intact.
    public func next() throws -> Frame? {
        try state.withLock { state in
            let frame = try state.source.next()
            if frame == nil { state.hasEnded = true }
            return frame
        }
    }

    /// Whether the stream was read to its end.
    package var hasEnded: Bool { state.withLock { $0.hasEnded } }
}

extension FrameReader {
    /// The remaining frames, read on demand.
    public var frames: AsyncFrames { AsyncFrames(reader: self) }

    /// The frames of a stream as an asynchronous sequence.
    public struct AsyncFrames: AsyncSequence, AsyncIteratorProtocol, Sendable {
        /// A frame of the stream.
        public typealias Element = Frame
        /// The error of reading the stream.
        public typealias Failure = any Error

        let reader: FrameReader

        /// Continues at the stream's current position.
        public func makeAsyncIterator() -> AsyncFrames { self }

        /// The next frame; nil at the end. See ``FrameReader/next()``.
        public mutating func next() async throws -> Frame? {
            try await withCheckedThrowingContinuation { continuation in
                reader.queue.async { [reader] in
                    continuation.resume(with: Result { try reader.next() })
                }
            }
        }
    }
}

extension FrameError {
    /// The error with the name of the stream.
    func of(_ name: String) -> FrameError {
        let places = [file, place].filter { !$0.isEmpty }
        return FrameError(
            kind, file: name, place: places.joined(separator: ": "), rule: rule, remedy: remedy)
    }
}

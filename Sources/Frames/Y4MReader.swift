import Dispatch
public import Files
import Locks

/// Reads the frames of a YUV4MPEG2 stream, one after the other.
///
/// It may be shared between tasks; each frame is read once.
public final class Y4MReader: Sendable {
    /// What all frames have in common.
    public let header: Y4MHeader
    private let state: Mutex<State>
    /// Reading may have to wait for another program or a camera.
    fileprivate let queue = DispatchQueue(label: "retint.y4m")

    fileprivate struct State {
        let input: ByteInput
        var frameCount = 0
        var hasEnded = false
    }

    /// Opens a file or a named pipe and reads the header.
    ///
    /// - Parameters:
    ///   - path: the stream.
    ///   - range: the range; nil for that which the stream states, and limited if it states none.
    ///   - matrix: the matrix; nil for that of the height, see ``ColorMatrix/init(height:)``.
    /// - Throws: `FileError` if it cannot be read, ``FrameError`` if its header is damaged or not
    ///   supported.
    public convenience init(
        contentsOf path: some PathConvertible, range: SampleRange? = nil,
        matrix: ColorMatrix? = nil
    ) throws {
        // A string is no part of the region of `path`.
        try self.init(ByteInput(path.filePath.string), range: range, matrix: matrix)
    }

    /// Reads the header from standard input or a pipe.
    package init(
        _ input: sending ByteInput, range: SampleRange? = nil, matrix: ColorMatrix? = nil
    ) throws {
        let line = try input.line(limit: Y4MHeader.maximumBytes)
        do throws(FrameError) {
            guard let line else { throw FrameError(.truncated, "it is empty") }
            guard line.count < Y4MHeader.maximumBytes else {
                throw FrameError(
                    .format, "its first line has \(line.count) bytes or more: it is no YUV4MPEG2")
            }
            header = try Y4MHeader(
                String(decoding: line, as: UTF8.self), range: range, matrix: matrix)
        } catch {
            throw error.of(input.name)
        }
        state = Mutex(State(input: input))
    }

    /// The next frame; nil at the end of the stream. It is waited for.
    ///
    /// - Throws: `FileError` if it cannot be read; ``FrameError`` if the stream is damaged or ends
    ///   inside the frame. The frames before it are whole.
    public func next() throws -> Frame? {
        try state.withLock { state in
            let frame = try state.next(header.format)
            if frame != nil { state.frameCount += 1 } else { state.hasEnded = true }
            return frame
        }
    }

    /// Whether the stream was read to its end.
    package var hasEnded: Bool { state.withLock { $0.hasEnded } }
}

extension Y4MReader.State {
    /// The longest header of a frame, in bytes.
    private static let maximumFrameHeader = 256
    private static let frameSignature = "FRAME"

    fileprivate func next(_ format: FrameFormat) throws -> Frame? {
        guard let line = try input.line(limit: Self.maximumFrameHeader) else { return nil }
        try check(String(decoding: line.prefix(32), as: UTF8.self))
        let luma = try plane(format, format.width, format.height)
        guard format.chroma != .mono else { return try Frame(format, luma: luma) }
        let cb = try plane(format, format.chromaWidth, format.chromaHeight)
        let cr = try plane(format, format.chromaWidth, format.chromaHeight)
        return try Frame(format, luma: luma, cb: cb, cr: cr)
    }

    /// Checks the line before a frame's samples.
    private func check(_ line: String) throws(FrameError) {
        let words = line.split(separator: " ")
        guard words.first.map(String.init) == Self.frameSignature else {
            throw FrameError(
                .damaged,
                "frame \(frameCount + 1) begins with \"\(line)\", not with "
                    + "\(Self.frameSignature): the stream is damaged, or its size changes"
            ).of(input.name)
        }
        // A frame may state how it is interlaced: Ipp if it is not.
        guard let field = words.first(where: { $0.hasPrefix("I") }), !field.hasPrefix("Ip") else {
            return
        }
        throw FrameError(
            .format,
            "frame \(frameCount + 1) is interlaced (\(field)); deinterlace first, for example with "
                + "ffmpeg -vf bwdif"
        ).of(input.name)
    }

    private func plane(_ format: FrameFormat, _ width: Int, _ height: Int) throws -> Plane {
        let row = width * format.bytesPerSample
        let bytes = try input.bytes(row * height)
        guard bytes.count == row * height else {
            throw FrameError(
                .truncated,
                "it ends inside frame \(frameCount + 1); the frames before it are whole"
            ).of(input.name)
        }
        return Plane(bytes: bytes, bytesPerRow: row)
    }
}

extension Y4MReader {
    /// The frames from the next one on, read when they are asked for.
    public var frames: AsyncFrames { AsyncFrames(reader: self) }

    /// The frames of a stream as an asynchronous sequence.
    public struct AsyncFrames: AsyncSequence, AsyncIteratorProtocol, Sendable {
        /// A frame of the stream.
        public typealias Element = Frame
        /// The error of reading the stream.
        public typealias Failure = any Error

        let reader: Y4MReader

        /// Reads on where the stream is.
        public func makeAsyncIterator() -> AsyncFrames { self }

        /// The next frame; nil at the end. See ``Y4MReader/next()``.
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
    func of(_ name: String) -> FrameError { FrameError(kind, "\(name): \(description)") }
}

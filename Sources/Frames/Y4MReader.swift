public import Files

/// Reads the frames of a YUV4MPEG2 stream, one after the other.
public final class Y4MReader {
    /// What all frames have in common.
    public let header: Y4MHeader
    /// The number of frames read so far.
    public private(set) var frameCount = 0
    private let input: ByteInput

    /// The longest header of a frame, in bytes.
    private static let maximumFrameHeader = 256
    private static let frameSignature = "FRAME"

    /// Opens a file or a named pipe and reads the header.
    ///
    /// - Parameters:
    ///   - path: the stream.
    ///   - range: the range where the stream states none.
    ///   - matrix: the matrix; nil for that of the height, see ``ColorMatrix/init(height:)``.
    /// - Throws: `FileError` if it cannot be read, ``FrameError`` if its header is damaged or not
    ///   supported.
    public convenience init(
        contentsOf path: some PathConvertible, range: SampleRange = .limited,
        matrix: ColorMatrix? = nil
    ) throws {
        try self.init(ByteInput(path), range: range, matrix: matrix)
    }

    /// Reads the header from standard input or a pipe.
    package init(
        _ input: ByteInput, range: SampleRange = .limited, matrix: ColorMatrix? = nil
    ) throws {
        self.input = input
        let line = try input.line(limit: Y4MHeader.maximumBytes) ?? []
        do throws(FrameError) {
            guard line.count < Y4MHeader.maximumBytes else {
                throw FrameError(
                    .format, "its first line has \(line.count) bytes or more: it is no YUV4MPEG2")
            }
            header = try Y4MHeader(
                String(decoding: line, as: UTF8.self), range: range, matrix: matrix)
        } catch {
            throw error.of(input.name)
        }
    }

    /// The next frame; nil at the end of the stream.
    ///
    /// - Throws: `FileError` if it cannot be read; ``FrameError`` if the stream is damaged or ends
    ///   inside the frame. The frames before it are whole.
    public func next() throws -> Frame? {
        guard let line = try input.line(limit: Self.maximumFrameHeader) else { return nil }
        try check(String(decoding: line.prefix(32), as: UTF8.self))
        let format = header.format
        let luma = try plane(format.width, format.height)
        guard format.chroma != .mono else {
            frameCount += 1
            return try Frame(format, luma: luma)
        }
        let cb = try plane(format.chromaWidth, format.chromaHeight)
        let cr = try plane(format.chromaWidth, format.chromaHeight)
        frameCount += 1
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

    private func plane(_ width: Int, _ height: Int) throws -> Plane {
        let row = width * header.format.bytesPerSample
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

/// Writes frames as a YUV4MPEG2 stream.
public final class Y4MWriter {
    /// What all frames have in common.
    public let header: Y4MHeader
    private let output: ByteOutput

    /// Creates a file, or replaces the one that is there, and writes the header.
    ///
    /// - Throws: `FileError` if it cannot be written.
    public convenience init(_ header: Y4MHeader, to path: some PathConvertible) throws {
        try self.init(header, ByteOutput(path))
    }

    /// Writes the header to standard output or a pipe.
    package init(_ header: Y4MHeader, _ output: ByteOutput) throws(FileError) {
        (self.header, self.output) = (header, output)
        try output.write(Array("\(header.line)\n".utf8))
    }

    /// Appends a frame.
    ///
    /// - Throws: `FileError` if it cannot be written, ``FrameError`` if its format is not the
    ///   stream's.
    public func write(_ frame: Frame) throws {
        guard frame.format == header.format else {
            throw FrameError(
                .format,
                "a frame of \(frame.format.width) × \(frame.format.height) does not fit "
                    + "into a stream of \(header.format.width) × \(header.format.height)"
            ).of(output.name)
        }
        try output.write(Array("FRAME\n".utf8))
        for (plane, width, height) in frame.planes {
            try output.write(plane.tightBytes(width, height, frame.format))
        }
    }
}

extension FrameError {
    /// The error with the name of the stream.
    func of(_ name: String) -> FrameError { FrameError(kind, "\(name): \(description)") }
}

extension Y4MReader {
    /// The frames from the next one on, read when they are asked for.
    public var frames: AsyncFrames { AsyncFrames(reader: self) }

    /// The frames of a stream as an asynchronous sequence. Reading blocks the caller.
    public struct AsyncFrames: AsyncSequence, AsyncIteratorProtocol {
        /// A frame of the stream.
        public typealias Element = Frame
        /// The error of reading the stream.
        public typealias Failure = any Error

        let reader: Y4MReader

        /// Reads on where the stream is.
        public func makeAsyncIterator() -> AsyncFrames { self }

        /// The next frame; nil at the end. See ``Y4MReader/next()``.
        public mutating func next() async throws -> Frame? { try reader.next() }
    }
}

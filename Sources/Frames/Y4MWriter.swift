public import Files

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

public import RetintFiles

/// The destination of a writer's frames.
package protocol FrameSink {
    /// The name in errors.
    var name: String { get }

    /// Appends a frame of the stream's format.
    mutating func write(_ frame: Frame) throws
}

/// Writes the frames of a video as a YUV4MPEG2 stream, or in a format for FFmpeg.
public final class FrameWriter {
    /// The properties common to all frames.
    public let header: Y4MHeader
    /// The number of frames that were written.
    public private(set) var frameCount = 0
    private var sink: any FrameSink

    /// Creates or replaces a YUV4MPEG2 file, and writes the header.
    ///
    /// - Throws: `FileError` if it cannot be written.
    public convenience init(_ header: Y4MHeader, to path: some PathConvertible) throws {
        try self.init(header, ByteOutput(path))
    }

    /// Writes the header of a YUV4MPEG2 stream to standard output or a pipe.
    package init(_ header: Y4MHeader, _ output: ByteOutput) throws(FileError) {
        (self.header, sink) = (header, try Y4MSink(header, output))
    }

    /// Writes frames in another format.
    package init(_ header: Y4MHeader, _ sink: any FrameSink) {
        (self.header, self.sink) = (header, sink)
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
            ).of(sink.name)
        }
        try sink.write(frame)
        frameCount += 1
    }
}

/// A YUV4MPEG2 stream.
private struct Y4MSink: FrameSink {
    private let output: ByteOutput

    var name: String { output.name }

    init(_ header: Y4MHeader, _ output: ByteOutput) throws(FileError) {
        self.output = output
        try output.write(Array("\(header.line)\n".utf8))
    }

    func write(_ frame: Frame) throws {
        try output.write(Array("FRAME\n".utf8))
        try output.write(samplesOf: frame)
    }
}

extension ByteOutput {
    /// Appends the samples of a frame, plane by plane, without padding.
    package func write(samplesOf frame: Frame) throws(FileError) {
        for (plane, width, height) in frame.planes {
            try write(plane.tightBytes(width, height, frame.format))
        }
    }
}

import RetintFiles

/// The frames of a YUV4MPEG2 stream after its header.
struct Y4MFrames: FrameSource {
    private let input: ByteInput
    private let format: FrameFormat
    private var frameCount = 0

    init(_ input: sending ByteInput, _ format: FrameFormat) {
        (self.input, self.format) = (input, format)
    }

    /// The longest header of a frame, in bytes.
    private static let maximumFrameHeader = 256
    private static let frameSignature = "FRAME"

    mutating func next() throws -> Frame? {
        guard let line = try input.line(limit: Self.maximumFrameHeader) else { return nil }
        try check(String(decoding: line.prefix(32), as: UTF8.self))
        let frame = try Frame.assembled(format) { count in
            let bytes = try input.bytes(count)
            return bytes.count == count ? bytes : nil
        }
        guard let frame else {
            throw FrameError(
                .truncated,
                "it ends inside frame \(frameCount + 1); the frames before it are intact\(oddWidth)"
            ).of(input.name)
        }
        frameCount += 1
        return frame
    }

    /// A cause that a stream of this format may have. FFmpeg writes the rows of its colors without
    /// the upper byte of the last sample, and does not read them either.
    private var oddWidth: String {
        let isHalved = format.chroma == .yuv420 || format.chroma == .yuv422
        guard isHalved, format.bitDepth == 10, !format.width.isMultiple(of: 2) else { return "" }
        return "; ffmpeg writes 10 bits with an odd width wrongly: make it even with "
            + "-vf crop=trunc(iw/2)*2:ih"
    }

    /// Checks the line before a frame's samples.
    private func check(_ line: String) throws(FrameError) {
        let words = line.split(separator: " ")
        guard words.first.map(String.init) == Self.frameSignature else {
            throw FrameError(
                .damaged,
                "frame \(frameCount + 1) begins with \"\(line)\", not with "
                    + "\(Self.frameSignature): the stream is damaged, or its size changes"
                    + oddWidth
            ).of(input.name)
        }
        // A frame may state its interlacing: Ipp means progressive.
        guard let field = words.first(where: { $0.hasPrefix("I") }), !field.hasPrefix("Ip") else {
            return
        }
        throw FrameError(
            .format,
            "frame \(frameCount + 1) is interlaced (\(field)); deinterlace first, for example with "
                + "ffmpeg -vf bwdif"
        ).of(input.name)
    }
}

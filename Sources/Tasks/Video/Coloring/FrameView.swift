/// The part of frames that is the network's input, and that gets its colors: the whole frames, or a
/// picture that they show in perspective.
struct FrameView: Sendable {
    /// The size of the network's input.
    var width: Int { lightness.width }
    /// The size of the network's input.
    var height: Int { lightness.height }
    private let picture: FramePicture?
    private let lightness: FrameLightness
    private let painter: FramePainter
    /// The name of the video in errors.
    private let video: String

    init(
        _ format: FrameFormat, _ picture: FramePicture?, width: Int, height: Int, of video: String
    ) {
        (self.picture, self.video) = (picture, video)
        lightness = FrameLightness(picture?.format ?? format, width: width, height: height)
        let colored = format.colored
        let size = picture == nil ? (width, height) : (colored.chromaWidth, colored.chromaHeight)
        painter = FramePainter(format, width: size.0, height: size.1)
    }

    /// L in 0…100, row by row from the top.
    ///
    /// - Throws: `FrameError` if the frame has another format.
    func lightness(of frame: Frame) throws(FrameError) -> [Float] {
        let (own, format) = (frame.format, painter.format)
        guard own == format else {
            throw FrameError(
                .format,
                file: video,
                "a frame is \(own.width) × \(own.height), but frames must be \(format.width) × "
                    + "\(format.height)")
        }
        return lightness.lightness(of: try picture?.straightened(frame) ?? frame)
    }

    /// The frame in the network's estimated colors.
    func colored(_ frame: Frame, a: [Float], b: [Float]) throws(FrameError) -> Frame {
        guard let picture else { return try painter.colored(frame, a: a, b: b) }
        return try painter.colored(
            frame, a: picture.inFrame(a, width: width, height: height),
            b: picture.inFrame(b, width: width, height: height))
    }
}

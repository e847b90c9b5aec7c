import RetintColoring
import RetintPhotoData

/// Where the frames of a video get new colors.
struct FrameMasks: Sendable {
    private enum Shares {
        /// All colors are new.
        case whole
        /// All frames have this mask.
        case same(ChromaShares)
        /// Each frame has its own mask.
        case each(ColorMasks)
    }

    private let format: FrameFormat
    private let shares: Shares
    private let blend: Float
    /// The fraction of each pixel that a picture in perspective covers; nil for all pixels.
    private let coverage: [Float]?
    /// The name of the video in errors.
    private let video: String

    /// - Throws: `PhotoError` if a single mask has another size than the frames.
    init(
        _ format: FrameFormat, _ masks: ColorMasks?, _ picture: FramePicture?, blend: Float,
        of video: String
    ) throws(PhotoError) {
        self.video = video
        let blend = blend > 0 ? min(blend, 1) : 0
        (self.format, self.blend, coverage) = (format, blend, picture?.coverage)
        guard let masks else {
            shares =
                blend == 1 && coverage == nil
                ? .whole : .same(ChromaShares(format, mask: coverage, blend: blend))
            return
        }
        guard let mask = masks.only else {
            shares = .each(masks)
            return
        }
        try mask.check(
            width: format.width, height: format.height, photo: video, mask: masks.path)
        shares = .same(
            ChromaShares(format, mask: mask.values.covered(coverage), blend: blend))
    }

    /// A colored frame with its own colors where the mask is black.
    ///
    /// - Parameters:
    ///   - original: the frame before it was colored.
    ///   - index: the index of the frame in the video.
    /// - Throws: `PhotoError` if the frame has no mask or one of another size; `ImageError` if it
    ///   cannot be read.
    func mixed(_ colored: Frame, with original: Frame, index: Int) throws -> Frame {
        switch shares {
        case .whole: colored
        case .same(let shares): try shares.mixed(colored, with: original)
        case .each(let masks):
            try ChromaShares(
                format, mask: mask(of: index, in: masks).values.covered(coverage), blend: blend
            ).mixed(colored, with: original)
        }
    }

    private func mask(of index: Int, in masks: ColorMasks) throws -> ColorMask {
        let frame = "frame \(index + 1)"
        guard index < masks.count else {
            throw PhotoError(
                .mask, file: video, place: frame,
                "has no mask: \(masks.path) has masks for \(masks.count) frames; add the others, "
                    + "or give one mask for all frames")
        }
        return try masks.mask(
            at: index, width: format.width, height: format.height, frame: "\(frame) of \(video)")
    }

    /// Checks that the masks suit a live source, some of whose frames are dropped.
    ///
    /// - Throws: `PhotoError` if each frame has its own mask.
    func checkLive() throws(PhotoError) {
        guard case .each(let masks) = shares else { return }
        throw PhotoError(
            .mask,
            file: masks.path,
            "per-frame masks need all frames; use a single mask for a live source"
        )
    }

    /// Checks that there are no masks beyond the end of a video, and that they had all instances.
    ///
    /// - Throws: `PhotoError` with both counts, or with a missing instance.
    func checkEnd(afterFrames count: Int) throws(PhotoError) {
        guard case .each(let masks) = shares else { return }
        try masks.checkInstances()
        guard masks.count > count else { return }
        throw PhotoError(
            .mask,
            file: masks.path,
            "has \(masks.count) masks, but \(video) has \(count) frames; it was "
                + "colored with the masks in the order of their names")
    }
}

extension [Float] {
    /// A mask on a picture that covers pixels partly.
    fileprivate func covered(_ coverage: [Float]?) -> [Float] {
        coverage.map { zip(self, $0).map { $0 * $1 } } ?? self
    }
}

import RetintImages

/// The size at which photos and their colored copies are compared.
enum EvaluationScale {
    /// The network's size, as in papers: only the network itself is measured.
    case network(height: Int, width: Int)
    /// The photo's own size, up to a limit: upsampling of the colors is also measured.
    case photo

    /// The longest side, in pixels, at which photos are compared at their own size; larger ones
    /// are scaled down.
    static let longestSide = 1024

    var isPhoto: Bool {
        if case .photo = self { true } else { false }
    }

    func scaled(_ photo: Image) -> Image {
        switch self {
        case .network(let height, let width): return photo.resized(to: width, height: height)
        case .photo:
            let longer = max(photo.width, photo.height)
            guard longer > Self.longestSide else { return photo }
            func side(_ length: Int) -> Int {
                max((length * Self.longestSide + longer / 2) / longer, 1)
            }
            return photo.resized(to: side(photo.width), height: side(photo.height))
        }
    }

    /// The distance up to which a pixel is near an edge: one pixel of a network of 256 × 256.
    func edgeReach(_ photo: Image) -> Int? {
        guard case .photo = self else { return nil }
        return max((max(photo.width, photo.height) + 128) / 256, 1)
    }
}

import RetintImages
import RetintPhotoData

/// The crop of an example, and how what the network sees differs from it.
struct TrainingCrop {
    enum Source {
        case image(Image)
        /// How a program cuts it from a photo in its memory, with the photo's pixels, if the
        /// program does not have them yet.
        case window(CropWindow, upload: PixelUpload? = nil)
    }

    let source: Source
    /// nil: the network sees the crop itself.
    var damage: OldPhotoDamage?

    /// Nil for a crop of a photo in memory.
    var image: Image? { if case .image(let image) = source { image } else { nil } }
}

/// Pixels for the memory of a program that cuts crops from them.
struct PixelUpload: Hashable, Sendable {
    /// Where the first pixel is stored.
    let start: Int
    /// ``PackedPixels``, row by row.
    let pixels: [Float]

    init(_ image: Image, at start: Int) {
        (self.start, pixels) = (start, PackedPixels.pack([image]))
    }
}

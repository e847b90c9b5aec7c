import RetintImages

/// The crop of an example: an image, or how a program cuts it from a photo in its memory.
enum TrainingCrop {
    /// With the copy whose lightness is the network's input; nil: the image itself.
    case image(Image, damaged: Image? = nil)
    /// With the photo's pixels, if the program does not have them yet.
    case window(CropWindow, upload: PixelUpload? = nil)

    /// Nil for a crop of a photo in memory.
    var image: Image? { if case .image(let image, _) = self { image } else { nil } }
    var damaged: Image? { if case .image(_, let damaged) = self { damaged } else { nil } }
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

@testable import RetintImages

/// Photos of all formats, with their metadata.
struct PictureTarget: FuzzTarget {
    let name = "picture"

    private static let suffixes = [
        ".png", ".jpg", ".webp", ".tif", ".bmp", ".gif", ".heic", ".avif",
    ]

    func seeds() throws -> [[UInt8]] {
        Self.suffixes.flatMap { Goldens.files(of: "ImagesTests", endingIn: $0) }
            .filter { !$0.hasSuffix(".expected.png") }.map(WorkFolder.read)
    }

    func run(_ input: [UInt8]) throws {
        let limits = ImageLimits(maximumPixels: 1 << 18)
        _ = try ImageMetadata(data: input, name: "photo")
        let image = try Image(data: input, name: "photo", limits: limits)
        _ = try Image(data: input, name: "photo", limits: limits, minimumSide: 4)
        precondition(image.pixels.count == image.width * image.height * 3)
    }
}

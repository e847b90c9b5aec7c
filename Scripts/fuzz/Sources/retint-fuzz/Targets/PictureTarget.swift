@testable import RetintImages

/// Photos: JPEG, PNG and WebP with their metadata.
struct PictureTarget: FuzzTarget {
    let name = "picture"

    func seeds() throws -> [[UInt8]] {
        let image = Image(width: 9, height: 7, red: 200, green: 100, blue: 50)
        return try ["png", "jpg"].map { suffix in
            let path = WorkFolder.path("seed.\(suffix)")
            try image.write(to: path)
            return WorkFolder.read(path)
        }
    }

    func run(_ input: [UInt8]) throws {
        let limits = ImageLimits(maximumPixels: 1 << 18)
        _ = try ImageMetadata(data: input, name: "photo")
        let image = try Image(data: input, name: "photo", limits: limits)
        _ = try Image(data: input, name: "photo", limits: limits, minimumSide: 4)
        precondition(image.pixels.count == image.width * image.height * 3)
    }
}

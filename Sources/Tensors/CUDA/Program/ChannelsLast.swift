import RetintTensors

/// Row-major values of a shape, and the same in the order of memory.
struct ChannelsLast {
    private let images, channels, pixels: Int

    init(_ shape: Shape) {
        let isImage = shape.rank == 4
        images = isImage ? shape[0] : 1
        channels = isImage ? shape[1] : 1
        pixels = isImage ? shape[2] * shape[3] : shape.count
    }

    private var isSame: Bool { channels == 1 || pixels == 1 }

    /// - Parameter scalars: row-major.
    func pack(_ scalars: [Float], to target: UnsafeMutablePointer<Float>) {
        scalars.withUnsafeBufferPointer { source in
            guard let source = source.baseAddress else { return }
            if isSame { return target.update(from: source, count: images * channels * pixels) }
            for image in 0..<images {
                for channel in 0..<channels {
                    let plane = source + (image * channels + channel) * pixels
                    let first = target + image * channels * pixels + channel
                    for pixel in 0..<pixels { first[pixel * channels] = plane[pixel] }
                }
            }
        }
    }

    /// - Parameter scalars: in the order of memory.
    func unpacked(_ scalars: [Float]) -> [Float] {
        if isSame { return scalars }
        return [Float](unsafeUninitializedCapacity: scalars.count) { target, count in
            for image in 0..<images {
                for channel in 0..<channels {
                    let plane = (image * channels + channel) * pixels
                    let first = image * channels * pixels + channel
                    for pixel in 0..<pixels {
                        target.initializeElement(
                            at: plane + pixel, to: scalars[first + pixel * channels])
                    }
                }
            }
            count = scalars.count
        }
    }
}

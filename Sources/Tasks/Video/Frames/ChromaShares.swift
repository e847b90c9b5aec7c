/// The share of the new colors for each color sample of a frame; the rest is the frame's own.
package struct ChromaShares: Sendable {
    private let format: FrameFormat
    /// 0…1, row by row, at the resolution of the color planes.
    private let shares: [Float]

    /// - Parameters:
    ///   - format: the format of the frames before coloring.
    ///   - mask: 0…1 for each pixel; nil for 1. A color sample gets the mean of its pixels.
    ///   - blend: a factor for all of them, 0…1.
    /// - Precondition: `mask` has as many values as a frame has pixels.
    package init(_ format: FrameFormat, mask: [Float]?, blend: Float) {
        self.format = format
        let colored = format.colored
        let (width, height) = (colored.chromaWidth, colored.chromaHeight)
        guard let mask else {
            shares = [Float](repeating: blend, count: width * height)
            return
        }
        precondition(mask.count == format.width * format.height, "a mask of another size")
        let block = colored.lumaPerChroma
        let factor = blend / Float(block.columns * block.rows)
        shares = (0..<width * height).map { index in
            let (x, y) = (index % width * block.columns, index / width * block.rows)
            var sum: Float = 0
            // Beyond the last column and row, they are repeated.
            for row in y..<y + block.rows {
                let start = min(row, format.height - 1) * format.width
                for column in x..<x + block.columns {
                    sum += mask[start + min(column, format.width - 1)]
                }
            }
            return min(sum * factor, 1)
        }
    }

    /// A colored frame mixed with its original colors by the shares. The bytes of Y' do not change.
    ///
    /// - Parameter original: the frame before coloring; a mono frame is neutral.
    package func mixed(_ colored: Frame, with original: Frame) throws(FrameError) -> Frame {
        precondition(original.format == format && colored.format == format.colored)
        guard let cb = colored.cb, let cr = colored.cr else { return colored }
        return try Frame(
            colored.format, luma: colored.luma, cb: mixed(cb, with: original.cb),
            cr: mixed(cr, with: original.cr))
    }

    private func mixed(_ new: Frame.Plane, with own: Frame.Plane?) -> Frame.Plane {
        var result = new
        let (bytes, neutral) = (format.bytesPerSample, Float(format.levels.neutral))
        let width = format.colored.chromaWidth
        for (index, share) in shares.enumerated() where share < 1 {
            let (x, y) = (index % width, index / width)
            let before = own.map { Float($0.level(x, y, bytes: bytes)) } ?? neutral
            let after = Float(new.level(x, y, bytes: bytes))
            let level = UInt16((before + (after - before) * share).rounded())
            result.store(level, x, y, bytes: bytes)
        }
        return result
    }
}

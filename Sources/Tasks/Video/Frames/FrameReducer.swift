import RetintColor
import RetintImages

/// Converts frames of one format to small images, for metrics and for people.
package struct FrameReducer: Sendable {
    private let format: FrameFormat
    private let luma: PlaneSampler
    private let chroma: PlaneSampler?
    private let rgb: VideoRGB

    /// - Parameters:
    ///   - format: the format of the frames.
    ///   - width: the width of the images in pixels.
    ///   - height: the height of the images.
    package init(_ format: FrameFormat, width: Int, height: Int) {
        self.format = format
        luma = PlaneSampler((format.width, format.height), of: format, width: width, height: height)
        chroma =
            format.chroma == .mono
            ? nil
            : PlaneSampler(
                (format.chromaWidth, format.chromaHeight), of: format, width: width,
                height: height)
        rgb = VideoRGB(format.matrix)
    }

    /// The frame as an image.
    package func image(of frame: Frame) -> Image {
        precondition(frame.format == format)
        let levels = format.levels
        func unit(_ plane: [Float], _ zero: Double, _ span: Double) -> [Float] {
            plane.map { ($0 - Float(zero)) / Float(span) }
        }
        let y = unit(luma.levels(of: frame.luma), levels.black, levels.white - levels.black)
        func color(_ plane: Frame.Plane?) -> [Float] {
            guard let plane, let chroma else { return [Float](repeating: 0, count: y.count) }
            return unit(chroma.levels(of: plane), levels.neutral, levels.chroma)
        }
        let (cb, cr) = (color(frame.cb), color(frame.cr))
        var pixels: [UInt8] = []
        pixels.reserveCapacity(3 * y.count)
        for index in y.indices {
            let color = rgb.color(luma: y[index], cb: cb[index], cr: cr[index])
            for channel in 0..<3 { pixels.append(UInt8(color[channel] * 255 + 0.5)) }
        }
        return Image(width: luma.resampler.width, height: luma.resampler.height, pixels: pixels)
    }
}

/// From Y'CbCr to sRGB.
private struct VideoRGB: Sendable {
    private let red, blue: Float
    private let isWide: Bool

    init(_ matrix: FrameFormat.ColorMatrix) {
        (red, blue) = matrix.weights
        isWide = matrix == .bt2020
    }

    /// Red, green and blue in 0…1 from Y' in 0…1 and Cb and Cr in −½…½.
    func color(luma: Float, cb: Float, cr: Float) -> SIMD3<Float> {
        let r = luma + 2 * (1 - red) * cr, b = luma + 2 * (1 - blue) * cb
        let g = (luma - red * r - blue * b) / (1 - red - blue)
        let color = SIMD3(r, g, b).clamped(lowerBound: .zero, upperBound: .one)
        return isWide ? LumaColors.narrowed(color) : color
    }
}

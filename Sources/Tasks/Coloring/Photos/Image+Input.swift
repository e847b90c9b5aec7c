import RetintArchitectures
import RetintExport
import RetintImages
import RetintPhotoData
import RetintRuntime
import RetintTensors

extension Image {
    /// The photo as a model takes it, resized.
    ///
    /// - Parameters:
    ///   - input: an input that takes photos. Lightness is L in 0…100; an image has the levels
    ///     0…255 of its channels; any other tensor has red, green and blue, or their luma, in
    ///     `range`.
    ///   - height: in pixels.
    ///   - width: in pixels.
    ///   - range: the range of a tensor that is neither lightness nor an image.
    /// - Returns: [1, C, height, width].
    public func tensor(
        for input: ModelInterface.Value, height: Int, width: Int, range: ValueRange = .unit
    ) -> TensorData {
        if input.role == .lightness { return lightness(height: height, width: width) }
        let pixels = resized(to: width, height: height).pixels
        let channels = input.colorLayout?.channels ?? input.shapes.standard[1] ?? 3
        let isImage = input.colorLayout != nil
        var scalars: [Float] = []
        scalars.reserveCapacity(channels * height * width)
        for channel in 0..<channels {
            for start in stride(from: 0, to: pixels.count, by: 3) {
                let level: Float
                if channels == 1 {
                    level = Self.luma(pixels[start], pixels[start + 1], pixels[start + 2])
                } else {
                    let stored = input.colorLayout == .bgr ? 2 - channel : channel
                    level = Float(pixels[start + stored])
                }
                scalars.append(
                    isImage ? level : range.value(level / 255, channel: channel, of: channels))
            }
        }
        return TensorData(shape: [1, channels, height, width], scalars: scalars)
    }

    /// The luma of ITU-R BT.601 in whole levels, as Pillow's mode L has it.
    private static func luma(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Float {
        Float((Int(red) * 19595 + Int(green) * 38470 + Int(blue) * 7471 + 0x8000) >> 16)
    }
}

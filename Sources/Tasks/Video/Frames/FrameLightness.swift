import RetintColor

/// Computes the lightness of frames of one format, at the size of the network's input.
package final class FrameLightness: Sendable {
    private let format: FrameFormat
    private let sampler: PlaneSampler
    private let table: [Float]

    /// The steps of the table of lightness: far finer than 10 bits.
    private static let steps = 8192

    package init(_ format: FrameFormat, width: Int, height: Int) {
        self.format = format
        sampler = PlaneSampler(
            (format.width, format.height), of: format, width: width, height: height)
        table = (0...Self.steps).map {
            Float(LumaColors.lightness(luma: Double($0) / Double(Self.steps)))
        }
    }

    /// The size of the network's input.
    package var width: Int { sampler.resampler.width }
    /// The size of the network's input.
    package var height: Int { sampler.resampler.height }

    /// L in 0…100, row by row from the top.
    package func lightness(of frame: Frame) -> [Float] {
        var result = sampler.levels(of: frame.luma)
        let levels = format.levels
        let scale = Float(Double(Self.steps) / (levels.white - levels.black))
        for index in result.indices {
            let step = (result[index] - Float(levels.black)) * scale
            result[index] = table[Int(min(max(step, 0), Float(Self.steps)) + 0.5)]
        }
        return result
    }
}

import CRetintColor
import RetintImages

/// Resizes the planes of frames of one format.
struct PlaneSampler: Sendable {
    let resampler: PlaneResampler
    private let columns: Int
    private let bytesPerSample: Int
    private let highest: UInt16

    /// - Parameters:
    ///   - size: the size of the resized planes in samples.
    ///   - format: the format of the frames.
    init(
        _ size: (width: Int, height: Int), of format: FrameFormat, width: Int, height: Int
    ) {
        columns = size.width
        (bytesPerSample, highest) = (format.bytesPerSample, format.highest)
        resampler = PlaneResampler(from: size, to: (width, height), filter: .bicubic)
    }

    /// Levels, row by row from the top; they may be slightly outside the range.
    func levels(of plane: Frame.Plane) -> [Float] {
        let (width, height) = (resampler.width, resampler.height)
        var result = [Float](repeating: 0, count: width * height)
        var sums = [Float](repeating: 0, count: columns)
        for row in 0..<height {
            sums.withUnsafeMutableBufferPointer { $0.update(repeating: 0) }
            accumulate(plane, resampler.window(ofRow: row), &sums)
            result.withUnsafeMutableBufferPointer {
                resampler.resizeRows(sums, into: $0.baseAddress! + row * width, count: 1)
            }
        }
        return result
    }

    private func accumulate(
        _ plane: Frame.Plane, _ window: (start: Int, weights: ArraySlice<Float>),
        _ sums: inout [Float]
    ) {
        plane.bytes.withUnsafeBytes { bytes in
            for (index, weight) in window.weights.enumerated() where weight != 0 {
                let row = bytes.baseAddress! + (window.start + index) * plane.bytesPerRow
                if bytesPerSample == 1 {
                    cs_accumulate_8(
                        row.assumingMemoryBound(to: UInt8.self), weight, &sums, columns)
                } else {
                    cs_accumulate_16(
                        row.assumingMemoryBound(to: UInt16.self), weight, &sums, columns, highest)
                }
            }
        }
    }
}

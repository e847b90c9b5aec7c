import RetintTestSupport
import Testing

@testable import RetintVideo

/// How much of its new colors a frame gets.
@Suite struct ChromaSharesTests {
    private static let layouts: [(FrameFormat.ChromaSubsampling, Int)] = [
        (.yuv420, 8), (.yuv422, 8), (.yuv444, 8), (.yuv420, 10), (.yuv422, 10), (.yuv444, 10),
    ]

    private func plane(
        _ width: Int, _ height: Int, _ bits: Int, padding: Int = 0, _ level: (Int, Int) -> Int
    ) -> Frame.Plane {
        let bytes = bits > 8 ? 2 : 1
        let pitch = (width + padding) * bytes
        var plane = Frame.Plane(
            bytes: [UInt8](repeating: 99, count: pitch * height), bytesPerRow: pitch)
        for y in 0..<height {
            for x in 0..<width {
                let value = level(x, y)
                plane.bytes[y * pitch + x * bytes] = UInt8(value & 255)
                if bytes == 2 { plane.bytes[y * pitch + x * 2 + 1] = UInt8(value >> 8) }
            }
        }
        return plane
    }

    private func levels(_ plane: Frame.Plane?, _ width: Int, _ height: Int, _ bits: Int) throws
        -> [Int]
    {
        let plane = try #require(plane)
        let bytes = bits > 8 ? 2 : 1
        return (0..<width * height).map { index in
            let start = index / width * plane.bytesPerRow + index % width * bytes
            return Int(plane.bytes[start]) + (bytes == 2 ? Int(plane.bytes[start + 1]) << 8 : 0)
        }
    }

    /// Odd sides: the last color samples have half of the pixels.
    @Test(arguments: layouts)
    func samplesGetTheMeanOfTheirPixels(_ chroma: FrameFormat.ChromaSubsampling, _ bits: Int) throws
    {
        let (width, height, scale) = (7, 5, 1 << (bits - 8))
        let format = try FrameFormat(width: width, height: height, chroma: chroma, bitDepth: bits)
        let (columns, rows) = (format.chromaWidth, format.chromaHeight)
        let luma = plane(width, height, bits) { x, y in (x + 9 * y + 20) * scale }
        let own = try Frame(
            format, luma: luma,
            cb: plane(columns, rows, bits, padding: 3) { x, y in (100 + x + y) * scale },
            cr: plane(columns, rows, bits, padding: 1) { x, _ in (90 + x) * scale })
        let new = try Frame(
            format, luma: luma, cb: plane(columns, rows, bits) { _, _ in 180 * scale },
            cr: plane(columns, rows, bits) { _, y in (40 + y) * scale })
        let mask = (0..<width * height).map { Float($0 % width) / 10 + Float($0 / width) / 25 }
        let shares = ChromaShares(format, mask: mask, blend: 0.5)
        let mixed = try shares.mixed(new, with: own)
        #expect(mixed.luma.bytes == luma.bytes && mixed.format == format)
        let (across, down) = (chroma == .yuv444 ? 1 : 2, chroma == .yuv420 ? 2 : 1)
        let (cb, cr) = (
            try levels(mixed.cb, columns, rows, bits), try levels(mixed.cr, columns, rows, bits)
        )
        for y in 0..<rows {
            for x in 0..<columns {
                var sum = 0.0
                for row in 0..<down {
                    for column in 0..<across {
                        let pixel = (
                            min(x * across + column, width - 1), min(y * down + row, height - 1)
                        )
                        sum += Double(pixel.0) / 10 + Double(pixel.1) / 25
                    }
                }
                let share = 0.5 * sum / Double(across * down)
                let first = Double((100 + x + y) * scale), second = Double((90 + x) * scale)
                let blue = first + (Double(180 * scale) - first) * share
                let red = second + (Double((40 + y) * scale) - second) * share
                #expect(abs(Double(cb[y * columns + x]) - blue) < 0.51)
                #expect(abs(Double(cr[y * columns + x]) - red) < 0.51)
            }
        }
    }

    @Test(arguments: [8, 10])
    func monoFramesAreNeutralWhereTheMaskIsBlack(_ bits: Int) throws {
        let scale = 1 << (bits - 8)
        let format = try FrameFormat(width: 4, height: 2, chroma: .mono, bitDepth: bits)
        let luma = plane(4, 2, bits) { x, _ in (50 + x) * scale }
        let own = try Frame(format, luma: luma)
        let new = try Frame(
            format.colored, luma: luma, cb: plane(2, 1, bits) { _, _ in 60 * scale },
            cr: plane(2, 1, bits) { _, _ in 200 * scale })
        let mixed = try ChromaShares(format, mask: [0, 0, 1, 1, 0, 0, 1, 1], blend: 1)
            .mixed(new, with: own)
        #expect(try levels(mixed.cb, 2, 1, bits) == [128 * scale, 60 * scale])
        #expect(try levels(mixed.cr, 2, 1, bits) == [128 * scale, 200 * scale])
        #expect(mixed.format == format.colored)
        let all = try ChromaShares(format, mask: nil, blend: 1).mixed(new, with: own)
        #expect(all == new)
        let half = try ChromaShares(format, mask: nil, blend: 0.5).mixed(new, with: own)
        #expect(try levels(half.cb, 2, 1, bits) == [94 * scale, 94 * scale])
    }
}

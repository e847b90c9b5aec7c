import RetintColor
import RetintTestSupport
import RetintVideo
import Testing

/// Colored frames against the package colour-science; `Goldens/record_colors.py` recorded them.
@Suite struct FramePainterTests {
    struct Golden: Decodable, Sendable, CustomTestStringConvertible {
        let matrix: String
        let bits: Int
        let full: Bool
        /// Y', Cb, Cr of each color.
        let levels: [Int]
        /// a, b of each color.
        let ab: [Float]

        var testDescription: String { "\(matrix), \(bits) bits, \(full ? "full" : "limited")" }

        var count: Int { ab.count / 2 }

        func format(_ chroma: FrameFormat.ChromaSubsampling = .yuv444) throws -> FrameFormat {
            try FrameFormat(
                width: count, height: 1, chroma: chroma, bitDepth: bits,
                range: full ? .full : .limited,
                matrix: try #require(FrameFormat.ColorMatrix(rawValue: matrix)))
        }

        /// The levels of one channel.
        func plane(_ channel: Int) -> Frame.Plane {
            let levels = stride(from: channel, to: self.levels.count, by: 3).map { self.levels[$0] }
            return bits == 8
                ? Frame.Plane(bytes: levels.map(UInt8.init), bytesPerRow: count)
                : Frame.Plane(
                    bytes: levels.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] },
                    bytesPerRow: 2 * count)
        }
    }

    static let goldens: [Golden] = (try? decodeGolden("colors.json")) ?? []

    @Test func goldensAreThere() { #expect(Self.goldens.count == 12) }

    /// A frame in color as an image: its colors are those of the golden, where sRGB has them.
    @Test(arguments: goldens)
    func framesBecomeImages(_ golden: Golden) throws {
        let format = try golden.format()
        let frame = try Frame(
            format, luma: golden.plane(0), cb: golden.plane(1), cr: golden.plane(2))
        let image = FrameReducer(format, width: golden.count, height: 1).image(of: frame)
        let colors = lab(fromRGB: image.pixels)
        var compared = 0
        for index in 0..<golden.count {
            let pixel = image.pixels[3 * index..<3 * index + 3]
            guard pixel.allSatisfy({ $0 > 0 && $0 < 255 }) else { continue }
            compared += 1
            // Levels of 8 bits are up to 1.6 apart in a or b.
            #expect(abs(colors.a[index] - golden.ab[2 * index]) < 1.6)
            #expect(abs(colors.b[index] - golden.ab[2 * index + 1]) < 1.6)
        }
        #expect(compared > golden.count / 2)
    }

    @Test(arguments: goldens)
    func chromaIsThatOfTheColor(_ golden: Golden) throws {
        let format = try golden.format()
        let painter = FramePainter(format, width: golden.count, height: 1)
        let (luma, empty) = (golden.plane(0), golden.plane(1))
        let ab = (0..<2).map { channel in
            stride(from: channel, to: golden.ab.count, by: 2).map { golden.ab[$0] }
        }
        let colored = try painter.colored(
            Frame(format, luma: luma, cb: empty, cr: empty), a: ab[0], b: ab[1])
        #expect(colored.luma.bytes == luma.bytes)
        // The golden's a and b are those before its levels were rounded.
        let tolerance = golden.bits == 8 ? 1 : 3
        for (plane, channel) in [(colored.cb, 1), (colored.cr, 2)] {
            let levels = try #require(plane).levels(golden.bits)
            let expected = golden.plane(channel).levels(golden.bits)
            let worst = zip(levels, expected).map { abs($0 - $1) }.max() ?? .max
            #expect(worst <= tolerance)
        }
    }

    static let formats: [(FrameFormat.ChromaSubsampling, Int, FrameFormat.SampleRange)] =
        FrameFormat.ChromaSubsampling.allCases.flatMap { chroma in
            [8, 10].flatMap { bits in FrameFormat.SampleRange.allCases.map { (chroma, bits, $0) } }
        }

    /// Y' of every format leaves as it came, padded rows included, at an odd size.
    @Test(arguments: formats)
    func lumaStays(
        _ chroma: FrameFormat.ChromaSubsampling, _ bits: Int, _ range: FrameFormat.SampleRange
    ) throws {
        let format = try FrameFormat(
            width: 13, height: 7, chroma: chroma, bitDepth: bits, range: range)
        let frame = try Frame.noise(format, padding: 6)
        let painter = FramePainter(format, width: 4, height: 3)
        let colored = try painter.colored(
            frame, a: [Float](repeating: 40, count: 12), b: [Float](repeating: -20, count: 12))
        #expect(colored.luma.bytes == frame.luma.bytes)
        #expect(colored.luma.bytesPerRow == frame.luma.bytesPerRow)
        #expect(colored.format == format.colored)
        #expect(colored.format.chroma == (chroma == .mono ? .yuv420 : chroma))
    }

    /// Without color, Cb and Cr are neutral, whatever the frame had before.
    @Test(arguments: formats)
    func noColorIsNeutral(
        _ chroma: FrameFormat.ChromaSubsampling, _ bits: Int, _ range: FrameFormat.SampleRange
    ) throws {
        let format = try FrameFormat(
            width: 13, height: 7, chroma: chroma, bitDepth: bits, range: range)
        let painter = FramePainter(format, width: 2, height: 2)
        let zeros = [Float](repeating: 0, count: 4)
        let colored = try painter.colored(Frame.noise(format), a: zeros, b: zeros)
        let neutral = 1 << (bits - 1)
        #expect(try #require(colored.cb).levels(bits).allSatisfy { $0 == neutral })
        #expect(try #require(colored.cr).levels(bits).allSatisfy { $0 == neutral })
    }

    /// Black stays without color, so a row of color samples shows which rows of Y' it looked at.
    @Test func colorsFollowTheirOwnRows() throws {
        let format = try FrameFormat(width: 2, height: 6)
        let luma = Frame.Plane(
            bytes: [16, 16, 16, 16, 120, 120, 120, 120, 16, 16, 16, 16], bytesPerRow: 2)
        let empty = Frame.Plane(bytes: [0, 0, 0], bytesPerRow: 1)
        let painter = FramePainter(format, width: 1, height: 1)
        let colored = try painter.colored(
            Frame(format, luma: luma, cb: empty, cr: empty), a: [40], b: [0])
        let red = try #require(colored.cr).levels(8)
        #expect(red[0] == 128 && red[1] > 140 && red[2] == 128)
    }

    /// The sides of a frame have different colors, in every layout of samples.
    @Test(arguments: [FrameFormat.ChromaSubsampling.yuv420, .yuv422, .yuv444])
    func colorsAreWhereTheyBelong(_ chroma: FrameFormat.ChromaSubsampling) throws {
        let format = try FrameFormat(width: 16, height: 8, chroma: chroma)
        let luma = Frame.Plane(bytes: [UInt8](repeating: 120, count: 128), bytesPerRow: 16)
        let size = format.chromaWidth * format.chromaHeight
        let empty = Frame.Plane(
            bytes: [UInt8](repeating: 0, count: size), bytesPerRow: format.chromaWidth)
        let painter = FramePainter(format, width: 2, height: 1)
        let colored = try painter.colored(
            Frame(format, luma: luma, cb: empty, cr: empty), a: [30, -30], b: [0, 0])
        let red = try #require(colored.cr).levels(8)
        for row in 0..<format.chromaHeight {
            #expect(red[row * format.chromaWidth] > 140)
            #expect(red[(row + 1) * format.chromaWidth - 1] < 116)
        }
    }
}

@Suite struct FrameLightnessTests {
    /// A gray ramp has the lightness that scikit-image gives for the levels in RGB.
    @Test(arguments: [(0, 0.0), (127, 53.19), (128, 53.585), (255, 100)])
    func fullRangeIsAsRGB(level: UInt8, lightness: Float) throws {
        let format = try FrameFormat(width: 8, height: 8, chroma: .mono, range: .full)
        let frame = try Frame(
            format, luma: Frame.Plane(bytes: [UInt8](repeating: level, count: 64), bytesPerRow: 8))
        let values = FrameLightness(format, width: 4, height: 4).lightness(of: frame)
        #expect(values.count == 16)
        #expect(values.allSatisfy { abs($0 - lightness) < 0.02 })
    }

    /// Levels below black and above white are black and white.
    @Test(arguments: [
        (8, 16, 0), (8, 3, 0), (8, 235, 100), (8, 255, 100), (10, 64, 0), (10, 940, 100),
    ])
    func limitedRangeIsClamped(bits: Int, level: Int, lightness: Float) throws {
        let format = try FrameFormat(width: 5, height: 5, chroma: .mono, bitDepth: bits)
        let sample = bits == 8 ? [UInt8(level)] : [UInt8(level & 255), UInt8(level >> 8)]
        let frame = try Frame(
            format,
            luma: Frame.Plane(
                bytes: (0..<25).flatMap { _ in sample }, bytesPerRow: 5 * sample.count))
        let values = FrameLightness(format, width: 5, height: 5).lightness(of: frame)
        #expect(values.allSatisfy { abs($0 - lightness) < 0.02 })
    }
}

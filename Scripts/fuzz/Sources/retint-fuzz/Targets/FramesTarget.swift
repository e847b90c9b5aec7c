@testable import RetintFiles
@testable import RetintVideo

/// Videos: a YUV4MPEG2 stream, or a NUT stream as FFmpeg hands it over. The first byte says which,
/// and the layout of NUT's frames.
struct FramesTarget: FuzzTarget {
    let name = "frames"

    private static let maximumFrames = 3
    private static let layouts: [FrameFormat.ChromaSubsampling] = [.mono, .yuv420, .yuv422, .yuv444]

    func seeds() throws -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        for (index, chroma) in Self.layouts.enumerated() {
            for bitDepth in [8, 10] {
                let format = try FrameFormat(
                    width: 6, height: 4, chroma: chroma, bitDepth: bitDepth)
                let header = Y4MHeader(
                    format, statesRange: true, rate: .init(numerator: 30, denominator: 1),
                    pixelAspect: (1, 1))
                let choice = UInt8(index << 1 | (bitDepth == 10 ? 8 : 0))
                seeds.append([choice] + (try y4m(header)))
                seeds.append([choice | 1] + (try nut(header)))
            }
        }
        return seeds
    }

    private func y4m(_ header: Y4MHeader) throws -> [UInt8] {
        let path = WorkFolder.path("seed.y4m")
        try write(header.format) { try FrameWriter(header, ByteOutput(path)) }
        return WorkFolder.read(path)
    }

    private func nut(_ header: Y4MHeader) throws -> [UInt8] {
        let path = WorkFolder.path("seed.nut")
        guard let timeBase = TimeBase(1, 30) else { return [] }
        try write(header.format) {
            try FrameWriter(header, NUTSink(header, timeBase, ByteOutput(path)))
        }
        return WorkFolder.read(path)
    }

    /// Writes two frames; the file is closed with the writer.
    private func write(_ format: FrameFormat, to writer: () throws -> FrameWriter) throws {
        let frame = try Frame.assembled(format) { [UInt8](repeating: 1, count: $0) }
        let writer = try writer()
        for _ in 0..<2 { if let frame { try writer.write(frame) } }
    }

    func run(_ input: [UInt8]) throws {
        guard let choice = input.first else { return }
        let path = WorkFolder.write(Array(input.dropFirst()), to: "video")
        let reader =
            choice & 1 == 0
            ? try FrameReader(contentsOf: path) : try nutReader(path, choice >> 1)
        guard reader.header.format.byteCount < 1 << 20 else { return }
        let lightness = FrameLightness(reader.header.format, width: 8, height: 8)
        for _ in 0..<Self.maximumFrames {
            guard let frame = try reader.next() else { return }
            precondition(lightness.lightness(of: frame).allSatisfy(\.isFinite))
        }
    }

    private func nutReader(_ path: String, _ choice: UInt8) throws -> FrameReader {
        let frames = try NUTFrames(
            ByteInput(path), chroma: Self.layouts[Int(choice & 3)],
            bitDepth: choice & 4 == 0 ? 8 : 10, range: .limited, statesRange: false,
            matrix: nil, rate: nil)
        return FrameReader(frames.header, frames)
    }
}

import Foundation
import RetintFiles
import RetintTestSupport
import RetintVideo
import Testing

@Suite struct Y4MTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    private func file(_ text: String, _ bytes: [UInt8] = []) throws -> String {
        let path = scratch.path("video.y4m")
        try AtomicFile.write(Array(text.utf8) + bytes, to: path)
        return path
    }

    static let layouts:
        [(name: String, chroma: FrameFormat.ChromaSubsampling, bits: Int, bytes: Int)] = [
            ("420jpeg", .yuv420, 8, 35 + 2 * 12), ("420mpeg2", .yuv420, 8, 59),
            ("422", .yuv422, 8, 35 + 2 * 20), ("444", .yuv444, 8, 105), ("mono", .mono, 8, 35),
            ("420p10", .yuv420, 10, 118), ("422p10", .yuv422, 10, 150),
            ("444p10", .yuv444, 10, 210),
            ("mono10", .mono, 10, 70),
        ]

    /// What is read is written again byte by byte, aspect ratio and comments included.
    @Test(arguments: layouts)
    func streamsAreWrittenAsTheyWereRead(
        _ name: String, _ chroma: FrameFormat.ChromaSubsampling, _ bits: Int, _ bytes: Int
    ) throws {
        let header = "YUV4MPEG2 W7 H5 F30000:1001 Ip A1:1 XCOMMENT=a C\(name) XCOLORRANGE=FULL\n"
        let frame = (0..<bytes).map { UInt8(truncatingIfNeeded: $0) }
        let content = Array("FRAME\n".utf8) + frame + Array("FRAME\n".utf8) + frame.reversed()
        let reader = try FrameReader(contentsOf: file(header, content))
        #expect(reader.header.format.chroma == chroma)
        #expect(reader.header.format.bitDepth == bits)
        #expect(reader.header.format.range == .full)
        #expect(reader.header.frameRate?.numerator == 30000)
        let writer = try FrameWriter(reader.header, to: scratch.path("copy.y4m"))
        while let frame = try reader.next() { try writer.write(frame) }
        #expect(try readFile(scratch.path("copy.y4m")) == Array(header.utf8) + content)
    }

    @Test func missingFieldsHaveDefaults() throws {
        let header = try FrameReader(contentsOf: file("YUV4MPEG2 W4 H720\n")).header
        #expect(header.format.chroma == .yuv420 && header.format.range == .limited)
        #expect(header.format.matrix == .bt709 && header.frameRate == nil)
        #expect(!header.statesRange)
        #expect(
            try FrameReader(contentsOf: file("YUV4MPEG2 W4 H719\n")).header.format.matrix == .bt601)
        let told = try FrameReader(
            contentsOf: file("YUV4MPEG2 W4 H4\n"), range: .full, matrix: .bt2020)
        #expect(told.header.format.range == .full && told.header.format.matrix == .bt2020)
    }

    static let badHeaders: [(header: String, says: String)] = [
        ("", "does not begin with YUV4MPEG2"), ("RIFF", "does not begin with YUV4MPEG2"),
        ("YUV4MPEG2 H4", "has no W"), ("YUV4MPEG2 W4", "has no H"),
        ("YUV4MPEG2 Wx H4", "Wx: must be a whole number"),
        ("YUV4MPEG2 W99999999999999999999 H4", "must be a whole number"),
        ("YUV4MPEG2 W0 H4", "0 × 4 pixels"), ("YUV4MPEG2 W-4 H4", "-4 × 4 pixels"),
        ("YUV4MPEG2 W16385 H4", "must be 1 to 16384"),
        ("YUV4MPEG2 W4 H4 It", "interlaced (It)"), ("YUV4MPEG2 W4 H4 C411", "C411"),
        ("YUV4MPEG2 W4 H4 C420p12", "C420p12"), ("YUV4MPEG2 W4 H4 F25", "F25: must be two"),
        ("YUV4MPEG2 W4 H4 F1:-1", "F1:-1"), ("YUV4MPEG2 W4 H4 XCOLORRANGE=TV", "LIMITED or FULL"),
    ]

    @Test(arguments: badHeaders)
    func badHeadersAreRefused(_ header: String, says: String) throws {
        let path = try file(header + "\n")
        let error = #expect(throws: FrameError.self) { try FrameReader(contentsOf: path) }
        #expect(error?.kind == .format)
        #expect(error?.description.contains(says) == true)
        #expect(error?.description.contains(path) == true)
    }

    @Test func aHeaderWithoutEndIsRefused() throws {
        let path = try file("YUV4MPEG2 W4 H4 X" + String(repeating: "x", count: 1 << 20))
        let error = #expect(throws: FrameError.self) { try FrameReader(contentsOf: path) }
        #expect(error?.description.contains("4096 bytes or more") == true)
    }

    @Test func aTruncatedStreamGivesTheFramesBefore() throws {
        let frame = "FRAME\n" + String(repeating: "a", count: 24)
        let reader = try FrameReader(
            contentsOf: file("YUV4MPEG2 W4 H4\n" + frame + frame.dropLast(3)))
        #expect(try reader.next() != nil)
        let error = #expect(throws: FrameError.self) { try reader.next() }
        #expect(error?.kind == .truncated)
        #expect(error?.description.contains("inside frame 2") == true)
    }

    @Test func aStreamOfAnotherSizeIsDamaged() throws {
        let frame = "FRAME\n" + String(repeating: "a", count: 30)
        let reader = try FrameReader(contentsOf: file("YUV4MPEG2 W4 H4\n" + frame + frame))
        #expect(try reader.next() != nil)
        let error = #expect(throws: FrameError.self) { try reader.next() }
        #expect(error?.kind == .damaged)
    }

    /// FFmpeg writes streams of 10 bits and an odd width that are too short.
    @Test(arguments: [("420p10", true), ("422p10", true), ("444p10", false), ("420jpeg", false)])
    func whatFFmpegWritesWronglyIsNamed(layout: String, isNamed: Bool) throws {
        let stream = "YUV4MPEG2 W5 H4 C\(layout)\nFRAME\n" + String(repeating: "a", count: 20)
        let reader = try FrameReader(contentsOf: file(stream))
        let error = #expect(throws: FrameError.self) { try reader.next() }
        #expect(error?.kind == .truncated)
        #expect(error?.description.contains("crop=trunc(iw/2)*2:ih") == isNamed)
    }

    @Test func framesMayStateHowTheyAreInterlaced() throws {
        let samples = String(repeating: "a", count: 24)
        let stream = "YUV4MPEG2 W4 H4\nFRAME Ipp XNOTE=1\n\(samples)FRAME Itt\n\(samples)"
        let reader = try FrameReader(contentsOf: file(stream))
        #expect(try reader.next() != nil)
        let error = #expect(throws: FrameError.self) { try reader.next() }
        #expect(error?.kind == .format)
        #expect(error?.description.contains("frame 2 is interlaced (Itt)") == true)
    }

    @Test func aMonoStreamGetsColorPlanes() throws {
        for (name, colored) in [("mono", "420jpeg"), ("mono10", "420p10")] {
            let header = try FrameReader(contentsOf: file("YUV4MPEG2 W4 H4 F25:1 C\(name)\n"))
                .header
            #expect(header.colored.line == "YUV4MPEG2 W4 H4 F25:1 C\(colored)")
            #expect(header.colored.format == header.format.colored)
        }
    }

    @Test func framesOfAnotherFormatAreNotWritten() throws {
        let header = try FrameReader(contentsOf: file("YUV4MPEG2 W4 H4\n")).header
        let writer = try FrameWriter(header, to: scratch.path("out.y4m"))
        let other = try Frame.noise(FrameFormat(width: 6, height: 4))
        #expect(throws: FrameError.self) { try writer.write(other) }
    }
}

@Suite struct FrameTests {
    private func plane(_ bytes: Int, _ row: Int) -> Frame.Plane {
        Frame.Plane(bytes: [UInt8](repeating: 0, count: bytes), bytesPerRow: row)
    }

    @Test func planesMustCoverTheFrame() throws {
        let format = try FrameFormat(width: 4, height: 3, chroma: .mono)
        // The last row need not be padded.
        #expect(throws: Never.self) { try Frame(format, luma: plane(24, 10)) }
        for (bytes, row) in [(23, 10), (12, 3), (0, 4), (12, .max), (12, 0), (12, -4)] {
            let error = #expect(throws: FrameError.self) {
                try Frame(format, luma: plane(bytes, row))
            }
            #expect(error?.kind == .planes)
        }
    }

    @Test func planesMustBeThose() throws {
        let mono = try FrameFormat(width: 2, height: 2, chroma: .mono)
        let color = try FrameFormat(width: 2, height: 2)
        let (luma, chroma) = (plane(4, 2), plane(1, 1))
        #expect(throws: FrameError.self) { try Frame(mono, luma: luma, cb: chroma, cr: chroma) }
        #expect(throws: FrameError.self) { try Frame(color, luma: luma, cb: chroma) }
        #expect(throws: FrameError.self) { try Frame(color, luma: luma) }
    }

    @Test func paddingIsNotCompared() throws {
        let format = try FrameFormat(width: 2, height: 2, chroma: .mono)
        let tight = try Frame(format, luma: Frame.Plane(bytes: [1, 2, 3, 4], bytesPerRow: 2))
        let padded = try Frame(format, luma: Frame.Plane(bytes: [1, 2, 9, 3, 4], bytesPerRow: 3))
        let other = try Frame(format, luma: Frame.Plane(bytes: [1, 2, 9, 3, 5], bytesPerRow: 3))
        #expect(tight == padded && tight != other)
        #expect(tight.hashValue == padded.hashValue)
    }

    @Test func depthsThatAreNotSupportedAreRefused() {
        #expect(throws: FrameError.self) { try FrameFormat(width: 2, height: 2, bitDepth: 12) }
    }
}

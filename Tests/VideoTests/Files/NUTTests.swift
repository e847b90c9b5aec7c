import Foundation
import RetintFiles
import RetintTestSupport
import RetintVideo
import Testing

@testable import RetintVideo

/// Frames with their times, as FFmpeg hands them over.
@Suite struct NUTTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    /// CRC-32/MPEG-2 without its initial value: the published polynomial, from 0 on.
    @Test func checksumsAreThoseOfFFmpeg() throws {
        // A synchronization point at 0, as ffmpeg 5.1 writes it.
        #expect(NUT.checksum([0, 0]) == 0)
        #expect(NUT.checksum(Array("123456789".utf8)) == 0x89A1_897F)
    }

    private func write(_ format: FrameFormat, _ times: [Duration]) throws -> [UInt8] {
        let base = try #require(TimeBase(1, 90_000))
        let header = Y4MHeader(
            format, statesRange: true, rate: Y4MHeader.FrameRate(numerator: 30, denominator: 1),
            pixelAspect: (4, 3))
        let path = scratch.path("video.nut")
        do {
            let sink = try NUTSink(header, base, ByteOutput(path))
            let writer = FrameWriter(header, sink)
            for (index, time) in times.enumerated() {
                var position = 0
                var frame = try #require(
                    try Frame.assembled(format) { count in
                        defer { position += count }
                        return (position..<position + count).map {
                            // The upper byte of 10 bits.
                            format.bitDepth > 8 && $0 % 2 == 1
                                ? 1 : UInt8(truncatingIfNeeded: $0 * 7 + index)
                        }
                    })
                frame.presentationTime = time
                try writer.write(frame)
            }
        }
        return try readFile(path)
    }

    /// The frames in a stream of NUT. The header may have been changed to another size.
    private func read(_ bytes: [UInt8], _ format: FrameFormat) throws -> [Frame] {
        let path = scratch.path("read.nut")
        try AtomicFile.write(bytes, to: path)
        var frames = try NUTFrames(
            ByteInput(path), chroma: format.chroma, bitDepth: format.bitDepth, range: format.range,
            statesRange: true, matrix: format.matrix, rate: nil)
        var result: [Frame] = []
        while let frame = try frames.next() { result.append(frame) }
        return result
    }

    static let times: [Duration] = [
        .zero, .milliseconds(33), .milliseconds(34), .milliseconds(1034), .seconds(4000),
    ]

    @Test(arguments: FrameFormat.ChromaSubsampling.allCases, [8, 10])
    func framesAndTimesComeBack(_ chroma: FrameFormat.ChromaSubsampling, _ bits: Int) throws {
        let format = try FrameFormat(width: 13, height: 7, chroma: chroma, bitDepth: bits)
        let frames = try read(try write(format, Self.times), format)
        #expect(frames.allSatisfy { $0.format == format })
        #expect(frames.count == 5 && Set(frames).count == 5)
        for (frame, time) in zip(frames, Self.times) {
            let own = try #require(frame.presentationTime)
            #expect(abs((own - time) / .seconds(1)) < 0.5 / 90_000)
        }
    }

    /// What is cut off or changed is an error, and never a trap.
    @Test func damageIsAnError() throws {
        let format = try FrameFormat(width: 4, height: 2)
        let whole = try write(format, Array(Self.times.prefix(3)))
        for count in 0..<whole.count {
            let frames = try? read(Array(whole.prefix(count)), format)
            // A stream may end between two frames.
            #expect(frames == nil || (frames?.count ?? 3) < 3)
        }
        var random = SystemRandomNumberGenerator()
        for index in whole.indices {
            for _ in 0..<4 {
                var bytes = whole
                bytes[index] = UInt8.random(in: 0...255, using: &random)
                _ = try? read(bytes, format)
            }
        }
    }

    /// `ffmpeg` reads what is written, and the reader reads what `ffmpeg` writes.
    @Test func ffmpegUnderstandsIt() throws {
        let format = try FrameFormat(width: 12, height: 8, chroma: .yuv422)
        let frames = try read(try write(format, Array(Self.times.prefix(4))), format)
        // From a pipe, as retint gives it: ffmpeg looks for no end.
        let command =
            "ffmpeg -nostdin -v error -y -i pipe:0 -fps_mode passthrough -enc_time_base -1 "
            + "-c:v rawvideo -f nut copy.nut < video.nut"
        let result = try runProcess(
            URL(filePath: "/bin/sh"), ["-c", command], in: scratch.path)
        #expect(result.code == 0 && result.messages.isEmpty, "\(result.messages)")
        let copy = try read(try readFile(scratch.path("copy.nut")), format)
        #expect(copy == frames)
        #expect(copy.map(\.presentationTime) == frames.map(\.presentationTime))
        let probe = try runProcess(
            URL(filePath: "/bin/sh"),
            [
                "-c",
                "ffprobe -v error -show_entries stream=r_frame_rate,sample_aspect_ratio "
                    + "-of csv=p=0 pipe:0 < video.nut",
            ], in: scratch.path)
        #expect(probe.output.contains("4:3,30/1"))
    }
}

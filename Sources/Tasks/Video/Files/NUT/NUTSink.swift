import RetintFiles

/// Writes frames with their timestamps as NUT.
struct NUTSink: FrameSink {
    private let output: ByteOutput
    private let timeBase: TimeBase
    /// The timestamp of a frame without one: that of the previous frame plus one tick.
    private var nextTick = 0

    var name: String { output.name }

    /// The number of the lowest bits of a tick; larger numbers are full ticks.
    private static let timeShift = 7
    /// The code of all frames: their header has everything that can differ.
    private static let frameCode: UInt8 = 1
    private static let flags: NUTFlags = [.key, .codedTime, .size, .checksum]
    /// The largest distance between two synchronization points in bytes; each frame has one.
    private static let maximumDistance = 65_536

    /// Writes the headers.
    ///
    /// - Throws: `FileError` if they cannot be written.
    init(_ header: Y4MHeader, _ timeBase: TimeBase, _ output: ByteOutput) throws(FileError) {
        (self.output, self.timeBase) = (output, timeBase)
        try output.write(NUT.signature)
        try write(.main, Self.mainHeader(timeBase))
        try write(.stream, Self.streamHeader(header))
        if let rate = header.frameRate { try write(.info, Self.information(rate)) }
    }

    private static func mainHeader(_ timeBase: TimeBase) -> NUTBytes {
        var bytes = NUTBytes()
        for value in [NUT.version, 1, maximumDistance, 1] { bytes.append(value) }
        bytes.append(timeBase.numerator)
        bytes.append(timeBase.denominator)
        // Three runs of the codes 0…255, which exclude "N": flags, the number of fields that
        // follow, the step of time, the factor and the rest of the size, the stream, a reserved
        // number, and the length of the run.
        for (flags, count) in [(NUTFlags.invalid, 1), (Self.flags, 253), (.invalid, 1)] {
            for value in [Int(flags.rawValue), 6, 0, 1, 0, 0, 0, count] { bytes.append(value) }
        }
        // No elided prefixes.
        bytes.append(0)
        return bytes
    }

    private static func streamHeader(_ header: Y4MHeader) -> NUTBytes {
        let (format, aspect) = (header.format, header.pixelAspect)
        var bytes = NUTBytes()
        // The first stream, of class video.
        for value in [0, 0] { bytes.append(value) }
        bytes.append(Array(format.fourCharacterCode))
        // The first time base; the shift; the largest step of time; no reordering, flags or data.
        for value in [0, timeShift, maximumDistance, 0, 0, 0] { bytes.append(value) }
        for value in [format.width, format.height, aspect.width, aspect.height, 0] {
            bytes.append(value)
        }
        return bytes
    }

    /// The rate for encoders; only the timestamps matter.
    private static func information(_ rate: Y4MHeader.FrameRate) -> NUTBytes {
        var bytes = NUTBytes()
        // Of the first stream, not of a chapter with a start and a length; one fact.
        for value in [1, 0, 0, 0, 1] { bytes.append(value) }
        bytes.append(Array("r_frame_rate".utf8))
        // Text is −1 as a signed number.
        bytes.append(2)
        bytes.append(Array("\(rate.numerator)/\(rate.denominator)".utf8))
        return bytes
    }

    private func write(_ packet: NUTPacket, _ payload: NUTBytes) throws(FileError) {
        var bytes = NUTBytes()
        bytes.append(bigEndian: packet.rawValue)
        bytes.append(payload.bytes.count + 4)
        bytes.bytes += payload.bytes
        bytes.append(bigEndian: NUT.checksum(payload.bytes))
        try output.write(bytes.bytes)
    }

    mutating func write(_ frame: Frame) throws {
        let tick = max(frame.presentationTime.map(timeBase.tick) ?? nextTick, 0)
        nextTick = tick + 1
        var point = NUTBytes()
        // The time, and the distance to the point before, which only seeking needs.
        for value in [tick, 0] { point.append(value) }
        try write(.syncPoint, point)
        var header = NUTBytes(bytes: [Self.frameCode])
        header.append(tick + 1 << Self.timeShift)
        header.append(frame.format.byteCount)
        header.append(bigEndian: NUT.checksum(header.bytes))
        try output.write(header.bytes)
        try output.write(samplesOf: frame)
    }
}

/// NUT's encoding of numbers.
private struct NUTBytes {
    var bytes: [UInt8] = []

    /// Seven bits per byte, the highest first; all bytes except the last have the highest bit set.
    mutating func append(_ value: Int) {
        let groups = max((Int.bitWidth - value.leadingZeroBitCount + 6) / 7, 1)
        for group in (0..<groups).reversed() {
            bytes.append(UInt8(value >> (7 * group) & 127) | (group > 0 ? 128 : 0))
        }
    }

    /// Bytes after their number.
    mutating func append(_ content: [UInt8]) {
        append(content.count)
        bytes += content
    }

    mutating func append(bigEndian value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes += $0 }
    }
}

import RetintFiles

/// The frames of a NUT stream, as written by `ffmpeg`, with their timestamps.
struct NUTFrames: FrameSource {
    /// The properties common to all frames.
    let header: Y4MHeader
    private let input: ByteInput
    private let timeBase: TimeBase
    /// The number of time bases: chapters may have another one.
    private let timeBaseCount: Int
    private let stream: NUTStream
    private let codes: [NUTFrameCode]
    /// Elided prefixes of frames; the first one is empty.
    private let beginnings: [[UInt8]]
    private var lastTick = 0
    private var frameCount = 0

    /// Reads the headers.
    ///
    /// - Parameters:
    ///   - chroma: the chroma format of the frames.
    ///   - bitDepth: the bit depth of the frames.
    ///   - range: the range of the frames.
    ///   - statesRange: whether the video states that range.
    ///   - matrix: nil for that of the height.
    ///   - rate: the mean rate; nil if it is unknown.
    /// - Throws: `FileError` if the input cannot be read; `FrameError` if it is not such a stream.
    init(
        _ input: sending ByteInput, chroma: FrameFormat.ChromaSubsampling, bitDepth: Int,
        range: FrameFormat.SampleRange,
        statesRange: Bool, matrix: FrameFormat.ColorMatrix?, rate: Y4MHeader.FrameRate?
    ) throws {
        guard try input.bytes(NUT.signature.count) == NUT.signature else {
            throw input.damaged("it does not begin like NUT")
        }
        var main = try input.packet(.main)
        guard try main.number() == NUT.version, try main.number() == 1 else {
            throw input.damaged("its version is not \(NUT.version), or it has several streams")
        }
        _ = try main.number()
        let bases = try main.timeBases()
        codes = try main.frameCodes()
        beginnings = try main.beginnings()
        var packet = try input.packet(.stream)
        stream = try NUTStream(&packet)
        guard bases.indices.contains(stream.timeBase) else {
            throw input.damaged("its time base is missing")
        }
        (timeBase, timeBaseCount) = (bases[stream.timeBase], bases.count)
        let format: FrameFormat
        do throws(FrameError) {
            format = try FrameFormat(
                width: stream.width, height: stream.height, chroma: chroma, bitDepth: bitDepth,
                range: range, matrix: matrix ?? FrameFormat.ColorMatrix(height: stream.height))
        } catch {
            throw error.of(input.name)
        }
        header = Y4MHeader(
            format, statesRange: statesRange, rate: rate, pixelAspect: stream.pixelAspect)
        self.input = input
    }

    mutating func next() throws -> Frame? {
        while let byte = try input.bytes(1).first {
            guard byte == NUTPacket.marker else { return try frame(byte) }
            var packet = try input.packet(after: byte)
            if packet.kind == .syncPoint {
                // Of the one stream, whose time base it is counted in.
                lastTick = try packet.number() / timeBaseCount
            }
        }
        return nil
    }

    private mutating func frame(_ code: UInt8) throws -> Frame {
        frameCount += 1
        let head = try NUTFrameHead(input, codes[Int(code)], stream.timeShift, after: lastTick)
        lastTick = head.tick
        let format = header.format
        guard beginnings.indices.contains(head.beginning), head.size == format.byteCount else {
            throw input.damaged(
                "frame \(frameCount) has \(head.size) bytes, but frames must have "
                    + "\(format.byteCount)")
        }
        var left = beginnings[head.beginning].prefix(head.size)
        let frame = try Frame.assembled(format) { [input] count in
            let known = left.prefix(count)
            left = left.dropFirst(count)
            let rest = try input.bytes(count - known.count)
            guard known.count + rest.count == count else { return nil }
            return known.isEmpty ? rest : known + rest
        }
        guard var frame else {
            throw FrameError(
                .truncated,
                file: input.name,
                "ends inside frame \(frameCount); the frames before it are intact")
        }
        frame.presentationTime = timeBase.time(ofTick: head.tick)
        return frame
    }
}

/// The header of the stream.
private struct NUTStream {
    let width, height, timeBase, timeShift: Int
    let pixelAspect: (width: Int, height: Int)

    init(_ packet: inout NUTContent) throws {
        // The number and the class of the stream, and its code.
        for _ in 0..<2 { _ = try packet.number() }
        _ = try packet.bytes()
        timeBase = try packet.number()
        timeShift = try packet.number()
        guard timeShift < 16 else { throw packet.damaged("its time shift is \(timeShift)") }
        // The largest time step, the reordering, and flags; then codec data.
        for _ in 0..<3 { _ = try packet.number() }
        _ = try packet.bytes()
        (width, height) = (try packet.number(), try packet.number())
        pixelAspect = (try packet.number(), try packet.number())
    }
}

/// The meaning of a code at the beginning of a frame.
private struct NUTFrameCode {
    let flags: NUTFlags
    let step, sizeFactor, sizeRest, reserved, beginning: Int
}

/// The header of a frame.
private struct NUTFrameHead {
    let tick, size, beginning: Int

    init(
        _ input: ByteInput, _ code: NUTFrameCode, _ timeShift: Int, after last: Int
    ) throws {
        var flags = code.flags
        if flags.contains(.coded) {
            flags.formSymmetricDifference(NUTFlags(rawValue: UInt64(try input.number())))
        }
        guard flags.isDisjoint(with: [.invalid, .sideData]) else {
            throw input.damaged("the code of a frame is not in use")
        }
        if flags.contains(.streamNumber) { _ = try input.number() }
        tick =
            flags.contains(.codedTime)
            ? Self.tick(try input.number(), timeShift, after: last) : last &+ code.step
        var size = code.sizeRest
        if flags.contains(.size) {
            let (product, overflows) = try input.number().multipliedReportingOverflow(
                by: code.sizeFactor)
            let (sum, isTooLarge) = product.addingReportingOverflow(size)
            guard !overflows, !isTooLarge else { throw input.damaged("the size of a frame") }
            size = sum
        }
        self.size = size
        if flags.contains(.matchTime) { _ = try input.number() }
        beginning = flags.contains(.elision) ? try input.number() : code.beginning
        let reserved = flags.contains(.reserved) ? try input.number() : code.reserved
        guard reserved < 256 else { throw input.damaged("the header of a frame") }
        for _ in 0..<reserved { _ = try input.number() }
        if flags.contains(.checksum) { _ = try input.bytes(4) }
    }

    /// The tick for a number: the full value, or the lowest bits of a value near the last one.
    private static func tick(_ coded: Int, _ shift: Int, after last: Int) -> Int {
        let range = 1 << shift
        guard coded < range else { return coded - range }
        let start = last &- (range - 1) / 2
        return (coded &- start) & (range - 1) &+ start
    }
}

// MARK: Packets

/// A packet, read from its beginning.
private struct NUTContent {
    let kind: NUTPacket?
    private let name: String
    private var rest: ArraySlice<UInt8>

    init(_ kind: NUTPacket?, _ bytes: [UInt8], _ name: String) {
        (self.kind, rest, self.name) = (kind, bytes[...], name)
    }

    func damaged(_ what: String) -> FrameError { FrameError(.damaged, file: name, what) }

    mutating func number() throws -> Int {
        guard let value = decodeNumber({ rest.popFirst() }) else {
            throw damaged("a header ends early")
        }
        return value
    }

    /// Bytes after their number.
    mutating func bytes() throws -> [UInt8] {
        let count = try number()
        guard count <= rest.count else { throw damaged("a header ends early") }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// The time bases.
    mutating func timeBases() throws -> [TimeBase] {
        let count = try number()
        guard (1...256).contains(count) else { throw damaged("it has \(count) time bases") }
        return try (0..<count).map { _ in
            guard let base = TimeBase(try number(), try number()) else {
                throw damaged("a time base is out of range")
            }
            return base
        }
    }

    /// The table of the codes 0…255.
    mutating func frameCodes() throws -> [NUTFrameCode] {
        let none = NUTFrameCode(
            flags: .invalid, step: 0, sizeFactor: 1, sizeRest: 0, reserved: 0, beginning: 0)
        var codes: [NUTFrameCode] = []
        var (step, factor, beginning) = (0, 1, 0)
        while codes.count < 256 {
            let flags = NUTFlags(rawValue: UInt64(try number()))
            let count = try number()
            guard count <= 64 else { throw damaged("its table of codes") }
            var fields: [Int] = []
            for _ in 0..<count { fields.append(try number()) }
            func field(_ index: Int) -> Int? { index < fields.count ? fields[index] : nil }
            // Signed numbers alternate: 1, −1, 2, −2 are 1, 2, 3, 4.
            step = field(0).map { $0 % 2 == 1 ? $0 / 2 + 1 : -($0 / 2) } ?? step
            factor = field(1) ?? factor
            let rest = field(3) ?? 0, run = field(5) ?? factor - rest
            beginning = field(7) ?? beginning
            guard (1...256).contains(run), rest < 1 << 40 else {
                throw damaged("its table of codes")
            }
            for index in 0..<run {
                if codes.count == Int(NUTPacket.marker) { codes.append(none) }
                codes.append(
                    NUTFrameCode(
                        flags: flags, step: step, sizeFactor: factor, sizeRest: rest + index,
                        reserved: field(4) ?? 0, beginning: beginning))
            }
        }
        guard codes.count == 256 else { throw damaged("its table of codes") }
        return codes
    }

    /// The elided prefixes of frames.
    mutating func beginnings() throws -> [[UInt8]] {
        let count = try number()
        guard count < 128 else { throw damaged("its beginnings of frames") }
        return try [[]] + (0..<count).map { _ in try bytes() }
    }
}

/// Seven bits per byte, the highest first; nil if there are too many or too few bytes.
private func decodeNumber(_ next: () throws -> UInt8?) rethrows -> Int? {
    var value = 0
    while let byte = try next() {
        guard value < 1 << 55 else { return nil }
        value = value << 7 | Int(byte & 127)
        if byte < 128 { return value }
    }
    return nil
}

extension ByteInput {
    /// The largest size of a packet that is not a frame, in bytes.
    private static let maximumPacket = 1 << 20

    fileprivate func damaged(_ what: String) -> FrameError {
        FrameError(.damaged, file: name, what)
    }

    fileprivate func number() throws -> Int {
        guard let value = try decodeNumber({ try bytes(1).first }) else {
            throw FrameError(.truncated, file: name, "ends inside a header")
        }
        return value
    }

    /// The packet at the current position.
    fileprivate func packet(_ kind: NUTPacket) throws -> NUTContent {
        let packet = try packet(after: try bytes(1).first ?? 0)
        guard packet.kind == kind else { throw damaged("a header is missing") }
        return packet
    }

    /// A packet whose first byte has been read. Its checksum is not verified: the other end of the
    /// pipe has just computed it.
    fileprivate func packet(after first: UInt8) throws -> NUTContent {
        let code = [first] + (try bytes(7))
        let kind = NUTPacket(rawValue: code.reduce(0) { $0 << 8 | UInt64($1) })
        let count = try number()
        guard kind != nil, (4...Self.maximumPacket).contains(count) else {
            throw damaged("a packet is damaged")
        }
        if count > 4096 { _ = try bytes(4) }
        return NUTContent(kind, Array(try bytes(count).dropLast(4)), name)
    }
}

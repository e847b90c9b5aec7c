/// A picture of a video in planar Y'CbCr, as used by decoders and encoders.
///
/// Coloring a frame changes only Cb and Cr: the bytes of its Y' plane stay the same.
public struct Frame: Hashable, Sendable {
    /// How the samples are stored, and which colors they represent.
    public let format: FrameFormat
    /// Y'.
    public let luma: Frame.Plane
    /// Cb; nil for mono.
    public let cb: Frame.Plane?
    /// Cr; nil for mono.
    public let cr: Frame.Plane?
    /// The timestamp, from the start of the video; nil if it follows from the stream's rate.
    public var presentationTime: Duration?

    /// Creates a frame from its planes.
    ///
    /// - Throws: ``FrameError`` if a plane is missing, or smaller than the format states.
    public init(
        _ format: FrameFormat, luma: Frame.Plane, cb: Frame.Plane? = nil, cr: Frame.Plane? = nil
    ) throws(FrameError) {
        let isMono = format.chroma == .mono
        guard (cb == nil) == isMono, (cr == nil) == isMono else {
            throw FrameError(
                .planes,
                "a \(format.chroma.rawValue) frame with "
                    + "\([cb, cr].count { $0 != nil }) color planes: must be \(isMono ? 0 : 2)")
        }
        try luma.check(format.width, format.height, format, "Y'")
        try cb?.check(format.chromaWidth, format.chromaHeight, format, "Cb")
        try cr?.check(format.chromaWidth, format.chromaHeight, format, "Cr")
        (self.format, self.luma, self.cb, self.cr) = (format, luma, cb, cr)
    }

    /// Creates a frame from planes without padding, Y' first.
    ///
    /// - Parameter bytes: returns the next plane, given its size in bytes; nil if the input ends
    ///   before that.
    /// - Returns: nil if a plane is missing.
    package static func assembled(
        _ format: FrameFormat, _ bytes: (Int) throws -> [UInt8]?
    ) throws -> Frame? {
        func plane(_ width: Int, _ height: Int) throws -> Frame.Plane? {
            let row = width * format.bytesPerSample
            return try bytes(row * height).map { Frame.Plane(bytes: $0, bytesPerRow: row) }
        }
        guard let luma = try plane(format.width, format.height) else { return nil }
        guard format.chroma != .mono else { return try Frame(format, luma: luma) }
        guard let cb = try plane(format.chromaWidth, format.chromaHeight),
            let cr = try plane(format.chromaWidth, format.chromaHeight)
        else { return nil }
        return try Frame(format, luma: luma, cb: cb, cr: cr)
    }

    /// Whether all samples are equal; padding and the timestamp are ignored.
    public static func == (one: Frame, other: Frame) -> Bool {
        guard one.format == other.format else { return false }
        return zip(one.planes, other.planes).allSatisfy { first, second in
            first.plane.tightBytes(first.width, first.height, one.format)
                == second.plane.tightBytes(second.width, second.height, one.format)
        }
    }

    /// Hashes the samples.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(format)
        for plane in planes {
            hasher.combine(plane.plane.tightBytes(plane.width, plane.height, format))
        }
    }

    /// The planes, Y' first, with their sizes in samples.
    package var planes: [(plane: Frame.Plane, width: Int, height: Int)] {
        let (width, height) = (format.chromaWidth, format.chromaHeight)
        return [(luma, format.width, format.height)]
            + [cb, cr].compactMap { $0 }.map { ($0, width, height) }
    }
}

extension Frame {
    /// The samples of one channel, row by row from the top.
    public struct Plane: Sendable {
        /// The samples; 10-bit samples take two bytes, the lower one first.
        public var bytes: [UInt8]
        /// The bytes from the start of one row to the start of the next; rows may be padded.
        public var bytesPerRow: Int

        /// Creates a plane from its bytes.
        public init(bytes: [UInt8], bytesPerRow: Int) {
            (self.bytes, self.bytesPerRow) = (bytes, bytesPerRow)
        }

        /// - Throws: ``FrameError`` unless the bytes cover `width` × `height` samples. The last row
        ///   need not be padded.
        func check(
            _ width: Int, _ height: Int, _ format: FrameFormat, _ name: String
        ) throws(FrameError) {
            let row = width * format.bytesPerSample
            guard bytesPerRow.isMultiple(of: format.bytesPerSample) else {
                throw FrameError(
                    .planes,
                    place: name,
                    "\(bytesPerRow) bytes from row to row: must be a multiple of "
                        + "\(format.bytesPerSample)")
            }
            guard bytesPerRow >= row else {
                throw FrameError(
                    .planes,
                    place: name,
                    "\(bytesPerRow) bytes from row to row, but a row of \(width) "
                        + "samples takes \(row)")
            }
            // Divided, not multiplied: the caller's `bytesPerRow` may be any number.
            guard bytes.count >= row, (bytes.count - row) / bytesPerRow >= height - 1 else {
                throw FrameError(
                    .planes,
                    place: name,
                    "\(bytes.count) bytes are fewer than \(height) rows of "
                        + "\(bytesPerRow) bytes")
            }
        }

        /// A sample.
        ///
        /// - Parameter count: the bytes that a sample takes.
        package func level(_ x: Int, _ y: Int, bytes count: Int) -> UInt16 {
            let start = y * bytesPerRow + x * count
            return UInt16(bytes[start]) | (count == 2 ? UInt16(bytes[start + 1]) << 8 : 0)
        }

        /// Replaces a sample.
        package mutating func store(_ level: UInt16, _ x: Int, _ y: Int, bytes count: Int) {
            let start = y * bytesPerRow + x * count
            bytes[start] = UInt8(truncatingIfNeeded: level)
            if count == 2 { bytes[start + 1] = UInt8(level >> 8) }
        }

        /// The samples without padding.
        package func tightBytes(_ width: Int, _ height: Int, _ format: FrameFormat) -> ArraySlice<
            UInt8
        > {
            let row = width * format.bytesPerSample
            if bytesPerRow == row { return bytes[..<(row * height)] }
            var tight: [UInt8] = []
            tight.reserveCapacity(row * height)
            for index in 0..<height {
                tight += bytes[index * bytesPerRow..<index * bytesPerRow + row]
            }
            return tight[...]
        }
    }
}

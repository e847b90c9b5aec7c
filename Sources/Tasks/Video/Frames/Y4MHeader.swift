/// The first line of a YUV4MPEG2 stream: the properties common to all of its frames.
///
/// Such a stream has no tag for the matrix, and often no tag for the range.
public struct Y4MHeader: Hashable, Sendable {
    /// How the frames are stored.
    public let format: FrameFormat
    /// Frames per second as a fraction; nil if not stated.
    public let frameRate: Y4MHeader.FrameRate?
    /// Whether the stream states its range.
    public let statesRange: Bool
    /// The stream's name of the sample layout, such as `420jpeg`.
    private let layout: String
    /// The other fields, which are written unchanged: the aspect ratio of pixels, and
    /// comments.
    private let otherFields: [String]

    /// The maximum length of the line in bytes.
    static let maximumBytes = 4096
    private static let signature = "YUV4MPEG2"

    /// Reads the line.
    ///
    /// - Parameters:
    ///   - line: the line without the newline.
    ///   - range: overrides the range; nil keeps the stream's own range, or assumes limited.
    ///   - matrix: the matrix; nil for that of ``FrameFormat/ColorMatrix/init(height:)``.
    /// - Throws: ``FrameError`` for a line that is not such a header, a field that is not
    ///   supported, or frames that are interlaced.
    public init(
        _ line: String, range: FrameFormat.SampleRange? = nil,
        matrix: FrameFormat.ColorMatrix? = nil
    ) throws(FrameError) {
        var words = line.split(separator: " ").map(String.init)
        guard words.first == Self.signature else {
            throw FrameError(.format, "it does not begin with \(Self.signature)")
        }
        words.removeFirst()
        func value(_ key: Character) -> String? {
            words.last { $0.first == key }.map { String($0.dropFirst()) }
        }
        let width = try Self.side(value("W"), "W"), height = try Self.side(value("H"), "H")
        try Self.checkInterlacing(value("I") ?? "?")
        frameRate = try value("F").flatMap { text throws(FrameError) in
            try Y4MHeader.FrameRate(y4m: text)
        }
        layout = value("C") ?? "420jpeg"
        let (chroma, depth) = try Self.layout(layout)
        let stated = words.last { $0.hasPrefix(Self.rangeKey) }
        statesRange = stated != nil
        let own = try stated.map { text throws(FrameError) in try Self.range(text) }
        format = try FrameFormat(
            width: width, height: height, chroma: chroma, bitDepth: depth,
            range: range ?? own ?? .limited,
            matrix: matrix ?? FrameFormat.ColorMatrix(height: height))
        otherFields = words.filter {
            !"WHFC".contains($0.prefix(1)) && !$0.hasPrefix(Self.rangeKey)
        }
    }
}

// MARK: Fields

extension Y4MHeader {
    private static let rangeKey = "XCOLORRANGE="

    private static func side(_ text: String?, _ key: String) throws(FrameError) -> Int {
        guard let text else { throw FrameError(.format, "its header has no \(key)") }
        guard let side = Int(text) else {
            throw FrameError(.format, "its header has \(key)\(text): must be a whole number")
        }
        return side
    }

    private static func checkInterlacing(_ text: String) throws(FrameError) {
        guard text == "p" || text == "?" else {
            throw FrameError(
                .format,
                "its frames are interlaced (I\(text)); deinterlace first, for example with "
                    + "ffmpeg -vf bwdif")
        }
    }

    private static func range(_ text: String) throws(FrameError) -> FrameFormat.SampleRange {
        switch text.dropFirst(rangeKey.count) {
        case "LIMITED": return .limited
        case "FULL": return .full
        default: throw FrameError(.format, "its header has \(text): must be LIMITED or FULL")
        }
    }

    private static let layouts: [String: (chroma: FrameFormat.ChromaSubsampling, bitDepth: Int)] = [
        "420": (.yuv420, 8), "420jpeg": (.yuv420, 8), "420mpeg2": (.yuv420, 8),
        "420paldv": (.yuv420, 8), "422": (.yuv422, 8), "444": (.yuv444, 8), "mono": (.mono, 8),
        "420p10": (.yuv420, 10), "422p10": (.yuv422, 10), "444p10": (.yuv444, 10),
        "mono10": (.mono, 10),
    ]

    /// The names of sample layouts in streams.
    private static func layout(of format: FrameFormat) -> String {
        let name =
            switch format.chroma {
            case .mono: "mono"
            case .yuv420: "420"
            case .yuv422: "422"
            case .yuv444: "444"
            }
        if format.bitDepth == 8 { return format.chroma == .yuv420 ? "420jpeg" : name }
        return name + (format.chroma == .mono ? "10" : "p10")
    }

    private static func layout(
        _ name: String
    ) throws(FrameError) -> (chroma: FrameFormat.ChromaSubsampling, bitDepth: Int) {
        guard let layout = layouts[name] else {
            let known = layouts.keys.sorted().joined(separator: ", ")
            throw FrameError(
                .format,
                "its header has C\(name): must be one of \(known). Convert the video, for example "
                    + "with ffmpeg -pix_fmt yuv420p")
        }
        return layout
    }
}

extension FrameFormat.ColorMatrix {
    /// The assumed matrix if none is stated: BT.709 with 720 rows or more, otherwise BT.601.
    public init(height: Int) { self = height >= 720 ? .bt709 : .bt601 }
}

extension Y4MHeader {
    /// Frames per second as a fraction.
    public struct FrameRate: Hashable, Sendable {
        /// Frames in ``denominator`` seconds.
        public let numerator: Int
        /// The seconds that ``numerator`` frames take.
        public let denominator: Int

        /// A frame rate.
        ///
        /// - Precondition: Both numbers are positive.
        package init(numerator: Int, denominator: Int) {
            precondition(numerator > 0 && denominator > 0)
            (self.numerator, self.denominator) = (numerator, denominator)
        }

        /// - Returns: nil for `0:0`, which means an unknown rate.
        init?(y4m text: String) throws(FrameError) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
            guard parts.count == 2, let numerator = parts[0], let denominator = parts[1],
                numerator >= 0, denominator >= 0
            else {
                throw FrameError(
                    .format, "its header has F\(text): must be two whole numbers, such as F25:1")
            }
            guard numerator > 0, denominator > 0 else { return nil }
            self.init(numerator: numerator, denominator: denominator)
        }

        /// Frames per second.
        public var value: Double { Double(numerator) / Double(denominator) }
    }
}

// MARK: Writing

extension Y4MHeader {
    /// Describes frames with timestamps.
    ///
    /// - Parameters:
    ///   - statesRange: whether the video states the range of the format.
    ///   - rate: the mean rate; nil if it is unknown.
    ///   - pixelAspect: the width of a pixel and its height; 0 if unknown.
    package init(
        _ format: FrameFormat, statesRange: Bool, rate: Y4MHeader.FrameRate?,
        pixelAspect: (width: Int, height: Int)
    ) {
        self.init(
            format: format, frameRate: rate, statesRange: statesRange,
            layout: Self.layout(of: format),
            otherFields: ["Ip", "A\(pixelAspect.width):\(pixelAspect.height)"])
    }

    /// The width of a pixel and its height; 0 if unknown.
    package var pixelAspect: (width: Int, height: Int) {
        let field = otherFields.last { $0.hasPrefix("A") } ?? "A0:0"
        let sides = field.dropFirst().split(separator: ":").compactMap { Int($0) }
        guard sides.count == 2, sides.allSatisfy({ (1...1 << 20).contains($0) }) else {
            return (0, 0)
        }
        return (sides[0], sides[1])
    }

    /// The header of the colored stream: a mono one gets color planes of half the resolution.
    public var colored: Y4MHeader {
        guard format.chroma == .mono else { return self }
        return Y4MHeader(
            format: format.colored, frameRate: frameRate, statesRange: statesRange,
            layout: Self.layout(of: format.colored), otherFields: otherFields)
    }

    private init(
        format: FrameFormat, frameRate: Y4MHeader.FrameRate?, statesRange: Bool, layout: String,
        otherFields: [String]
    ) {
        (self.format, self.frameRate, self.statesRange) = (format, frameRate, statesRange)
        (self.layout, self.otherFields) = (layout, otherFields)
    }

    /// The line to write.
    public var line: String {
        let rate = frameRate.map { "F\($0.numerator):\($0.denominator)" } ?? "F0:0"
        let range = statesRange ? [Self.rangeKey + format.range.rawValue.uppercased()] : []
        return
            ([Self.signature, "W\(format.width)", "H\(format.height)", rate] + otherFields
            + ["C\(layout)"] + range).joined(separator: " ")
    }
}

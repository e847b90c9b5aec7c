/// How the samples of a frame are stored, and which colors they represent.
public struct FrameFormat: Hashable, Sendable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// The resolution of the color planes.
    public let chroma: FrameFormat.ChromaSubsampling
    /// Bits of a sample: 8, or 10 in two bytes, the lower byte first.
    public let bitDepth: Int
    /// The levels of black and white.
    public let range: FrameFormat.SampleRange
    /// The weights of red, green and blue in Y', and the primaries that go with them.
    public let matrix: FrameFormat.ColorMatrix

    /// The largest width and height of a frame, in pixels.
    public static let maximumSide = 16_384

    /// Describes a frame.
    ///
    /// - Throws: ``FrameError`` if a side is not in 1…``maximumSide``, or the depth is neither 8
    ///   nor 10.
    public init(
        width: Int, height: Int, chroma: FrameFormat.ChromaSubsampling = .yuv420, bitDepth: Int = 8,
        range: FrameFormat.SampleRange = .limited, matrix: FrameFormat.ColorMatrix = .bt709
    ) throws(FrameError) {
        guard (1...Self.maximumSide).contains(width), (1...Self.maximumSide).contains(height) else {
            throw FrameError(
                .format,
                "frames of \(width) × \(height) pixels: the sides must be 1 to "
                    + "\(Self.maximumSide)")
        }
        guard bitDepth == 8 || bitDepth == 10 else {
            throw FrameError(.format, "samples of \(bitDepth) bits: must be 8 or 10")
        }
        (self.width, self.height, self.chroma) = (width, height, chroma)
        (self.bitDepth, self.range, self.matrix) = (bitDepth, range, matrix)
    }

    /// The format of colored frames of this format: mono frames get color planes of half
    /// the width and height.
    public var colored: FrameFormat {
        chroma == .mono ? FrameFormat(self, chroma: .yuv420) : self
    }

    private init(_ other: FrameFormat, chroma: FrameFormat.ChromaSubsampling) {
        (width, height, self.chroma) = (other.width, other.height, chroma)
        (bitDepth, range, matrix) = (other.bitDepth, other.range, other.matrix)
    }

    /// Bytes per sample.
    public var bytesPerSample: Int { bitDepth > 8 ? 2 : 1 }

    /// The width of the color planes; 0 for mono.
    public var chromaWidth: Int { chroma.size(width, height).width }

    /// The height of the color planes; 0 for mono.
    public var chromaHeight: Int { chroma.size(width, height).height }

    /// The bytes of a frame whose rows are not padded.
    public var byteCount: Int {
        (width * height + 2 * chromaWidth * chromaHeight) * bytesPerSample
    }
}

extension FrameFormat {
    /// The resolution of the color planes.
    public enum ChromaSubsampling: String, Hashable, Sendable, CaseIterable {
        /// No color planes.
        case mono
        /// Half the width and half the height, rounded up.
        case yuv420
        /// Half the width, rounded up.
        case yuv422
        /// The resolution of Y'.
        case yuv444

        func size(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
            switch self {
            case .mono: (0, 0)
            case .yuv420: ((width + 1) / 2, (height + 1) / 2)
            case .yuv422: ((width + 1) / 2, height)
            case .yuv444: (width, height)
            }
        }
    }
}

extension FrameFormat {
    /// The levels of black and white.
    public enum SampleRange: String, Hashable, Sendable, CaseIterable {
        /// Y' in 16…235, Cb and Cr in 16…240, times 4 for 10 bits ("TV", "MPEG").
        case limited
        /// All levels ("PC", "JPEG").
        case full
    }
}

extension FrameFormat {
    /// The weights of red, green and blue in Y' (ITU-R BT.601, BT.709, BT.2020 with non-constant
    /// luminance).
    public enum ColorMatrix: String, Hashable, Sendable, CaseIterable {
        /// Standard definition, and JPEG.
        case bt601
        /// High definition.
        case bt709
        /// Ultra-high definition, with its wider primaries.
        case bt2020

        /// The weights of red and blue; green has the rest.
        package var weights: (red: Float, blue: Float) {
            switch self {
            case .bt601: (0.299, 0.114)
            case .bt709: (0.2126, 0.0722)
            case .bt2020: (0.2627, 0.0593)
            }
        }
    }
}

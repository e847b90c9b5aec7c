import RetintFiles

// NUT is the container in which FFmpeg passes raw frames of every layout together with their
// timestamps; YUV4MPEG2 has a constant rate. This implements what a single stream of pictures
// needs. Source: the specification nut.txt, version 3, of the FFmpeg project.

/// The start codes of NUT packets.
enum NUTPacket: UInt64 {
    case main = 0x4E4D_7A56_1F5F_04AD
    case stream = 0x4E53_1140_5BF2_F9DB
    case syncPoint = 0x4E4B_E4AD_EECA_4569
    case index = 0x4E58_DD67_2F23_E64E
    case info = 0x4E49_AB68_B596_BA78

    /// The first byte of all start codes.
    static let marker = UInt8(ascii: "N")
}

enum NUT {
    /// The first bytes of a stream.
    static let signature = Array("nut/multimedia container\0".utf8)
    static let version = 3

    /// The checksum of a packet: CRC-32 with the polynomial 0x04C11DB7, from 0 on, the highest bit
    /// first.
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(0) { crc, byte in crc << 8 ^ table[Int(UInt8(crc >> 24) ^ byte)] }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index) << 24) { crc, _ in
            crc << 1 ^ (crc >> 31 == 1 ? 0x04C1_1DB7 : 0)
        }
    }
}

/// The fields of a frame's header after its code.
struct NUTFlags: OptionSet {
    let rawValue: UInt64

    static let key = NUTFlags(rawValue: 1)
    static let codedTime = NUTFlags(rawValue: 1 << 3)
    static let streamNumber = NUTFlags(rawValue: 1 << 4)
    static let size = NUTFlags(rawValue: 1 << 5)
    static let checksum = NUTFlags(rawValue: 1 << 6)
    static let reserved = NUTFlags(rawValue: 1 << 7)
    static let sideData = NUTFlags(rawValue: 1 << 8)
    static let elision = NUTFlags(rawValue: 1 << 10)
    static let matchTime = NUTFlags(rawValue: 1 << 11)
    static let coded = NUTFlags(rawValue: 1 << 12)
    static let invalid = NUTFlags(rawValue: 1 << 13)
}

/// Seconds of a tick, as a fraction.
struct TimeBase: Hashable, Sendable {
    let numerator, denominator: Int

    private static let range = 1...Int(Int32.max)

    /// - Returns: nil for numbers that are not in 1…2³¹ − 1.
    init?(_ numerator: Int, _ denominator: Int) {
        guard Self.range.contains(numerator), Self.range.contains(denominator) else { return nil }
        (self.numerator, self.denominator) = (numerator, denominator)
    }

    /// Timestamps are kept well within 64 bits: 30 years.
    private static let longest = 1e9

    /// - Returns: nil for an absurd timestamp.
    func time(ofTick tick: Int) -> Duration? {
        let seconds = Double(tick) * Double(numerator) / Double(denominator)
        return abs(seconds) < Self.longest ? .seconds(seconds) : nil
    }

    func tick(at time: Duration) -> Int {
        Int((time / .seconds(1) * Double(denominator) / Double(numerator)).rounded())
    }
}

extension FrameFormat {
    /// FFmpeg's code for raw frames of the format.
    var fourCharacterCode: [UInt8] {
        guard bitDepth == 8 else {
            let layout: (UInt8, UInt8) =
                switch chroma {
                case .mono: (UInt8(ascii: "1"), 0)
                case .yuv420: (UInt8(ascii: "3"), 11)
                case .yuv422: (UInt8(ascii: "3"), 10)
                case .yuv444: (UInt8(ascii: "3"), 0)
                }
            return [UInt8(ascii: "Y"), layout.0, layout.1, UInt8(bitDepth)]
        }
        let code =
            switch chroma {
            case .mono: "Y800"
            case .yuv420: "I420"
            case .yuv422: "Y42B"
            case .yuv444: "444P"
            }
        return Array(code.utf8)
    }
}

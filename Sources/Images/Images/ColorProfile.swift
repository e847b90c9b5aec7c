import CRetintImageCodecs

extension Image {
    /// Profiles are a few kilobytes; larger ones are ignored.
    static let largestProfile = 4 << 20

    /// The image in sRGB, given the profile that its colors follow.
    func converted(from profile: EmbeddedProfile?) -> Image {
        guard let profile, let bytes = profile.inflated(atMost: Self.largestProfile) else {
            return self
        }
        var result = self
        let count = UInt32(width * height)
        result.pixels.withUnsafeMutableBufferPointer { pixels in
            codec_to_srgb(bytes, bytes.count, pixels.baseAddress!, count)
        }
        return result
    }
}

extension EmbeddedProfile {
    /// The uncompressed profile; nil if it is too large or incomplete.
    fileprivate func inflated(atMost limit: Int) -> [UInt8]? {
        guard isDeflated else { return bytes.count <= limit ? bytes : nil }
        var size = limit
        let inflated = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            let isWhole = codec_inflate(bytes, bytes.count, buffer.baseAddress!, &size)
            count = isWhole ? size : 0
        }
        return inflated.isEmpty ? nil : inflated
    }
}

import RetintVideo

extension Frame.Plane {
    /// The samples, without padding.
    func levels(_ bits: Int) -> [Int] {
        guard bits > 8 else { return bytes.map(Int.init) }
        return stride(from: 0, to: bytes.count, by: 2).map {
            Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8
        }
    }

    /// Different samples, in rows with padding.
    static func noise(_ width: Int, _ height: Int, _ bits: Int, padding: Int) -> Frame.Plane {
        let row = width * (bits > 8 ? 2 : 1) + padding
        var bytes = (0..<row * height).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
        if bits > 8 {
            for index in stride(from: 1, to: bytes.count, by: 2) { bytes[index] &= 3 }
        }
        return Frame.Plane(bytes: bytes, bytesPerRow: row)
    }
}

extension Frame {
    /// A frame of different samples.
    static func noise(_ format: FrameFormat, padding: Int = 0) throws -> Frame {
        let bits = format.bitDepth
        func color() -> Frame.Plane? {
            format.chroma == .mono
                ? nil : .noise(format.chromaWidth, format.chromaHeight, bits, padding: padding)
        }
        return try Frame(
            format, luma: .noise(format.width, format.height, bits, padding: padding),
            cb: color(), cr: color())
    }
}

import CImageCodecs

/// Has the C libraries decode one file.
struct Decoder {
    let format: SourceFormat
    let bytes: [UInt8]
    let file: String
    let limits: ImageLimits

    func decode(minimumSide: Int?) throws(ImageError) -> Image {
        let header = try readHeader()
        let (width, height) = (Int(header.width), Int(header.height))
        try limits.check(width: width, height: height, file: file)
        guard !header.animated else {
            throw ImageError(
                .format, file, "it is an animation", remedy: "save one frame as a picture")
        }
        let scale = scale(width, height, minimumSide: minimumSide)
        return try decode(
            scale: scale, width: (width + scale - 1) / scale, height: (height + scale - 1) / scale)
    }

    private func readHeader() throws(ImageError) -> CodecHeader {
        var header = CodecHeader()
        try run { message in
            switch format {
            case .jpeg: codec_jpeg_read_header(bytes, bytes.count, &header, message)
            case .png: codec_png_read_header(bytes, bytes.count, &header, message)
            case .webp: codec_webp_read_header(bytes, bytes.count, &header, message)
            }
        }
        return header
    }

    /// The largest of 8, 4, 2 and 1 that leaves the shorter side `minimumSide` pixels.
    private func scale(_ width: Int, _ height: Int, minimumSide: Int?) -> Int {
        guard format == .jpeg, let minimumSide else { return 1 }
        let side = min(width, height)
        return [8, 4, 2].first { (side + $0 - 1) / $0 >= max(minimumSide, 1) } ?? 1
    }

    private func decode(scale: Int, width: Int, height: Int) throws(ImageError) -> Image {
        var failure: ImageError?
        let count = 3 * width * height
        let pixels = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(ImageError) {
                try decode(scale, UInt32(width), UInt32(height), into: buffer.baseAddress!)
                initialized = count
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return Image(width: width, height: height, pixels: pixels)
    }

    private func decode(
        _ scale: Int, _ width: UInt32, _ height: UInt32, into pixels: UnsafeMutablePointer<UInt8>
    ) throws(ImageError) {
        try run { message in
            switch format {
            case .jpeg:
                codec_jpeg_decode(
                    bytes, bytes.count, UInt32(scale), Int32(clamping: limits.maximumScans), width,
                    height, pixels, message)
            case .png: codec_png_decode(bytes, bytes.count, width, height, pixels, message)
            case .webp: codec_webp_decode(bytes, bytes.count, width, height, pixels, message)
            }
        }
    }

    private func run(_ body: (UnsafeMutablePointer<CChar>) -> Bool) throws(ImageError) {
        guard let message = codecMessage(body) else { return }
        throw ImageError(
            .damaged, file, "cannot be decoded: \(message)", remedy: "open and save it again")
    }
}

/// Calls a C function that returns whether it succeeded. Returns its message if it did not.
func codecMessage(_ body: (UnsafeMutablePointer<CChar>) -> Bool) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(CODEC_MESSAGE_SIZE)) { buffer in
        buffer.initialize(repeating: 0)
        return body(buffer.baseAddress!) ? nil : String(cString: buffer.baseAddress!)
    }
}

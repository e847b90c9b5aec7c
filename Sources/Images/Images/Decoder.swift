import CRetintImageCodecs

/// Decodes one file with the C libraries.
struct Decoder {
    let format: SourceFormat
    let bytes: [UInt8]
    let file: String
    let limits: ImageLimits

    func decode(minimumSide: Int?) throws(ImageError) -> Image {
        let (width, height) = try readSize()
        let scale = scale(width, height, minimumSide: minimumSide)
        let (columns, rows) = ((width + scale - 1) / scale, (height + scale - 1) / scale)
        let pixels = try decode(channels: 3, scale: scale, width: columns, height: rows)
        return Image(width: columns, height: rows, pixels: pixels)
    }

    /// Rows of red, green, blue and alpha, not premultiplied; alpha is 255 in a file without
    /// transparency.
    ///
    /// - Throws: `ImageError` for a JPEG, which has no transparency.
    func decodeWithAlpha() throws(ImageError) -> (width: Int, height: Int, pixels: [UInt8]) {
        guard [.png, .webp, .tiff].contains(format) else {
            throw ImageError(
                .format, file, "transparency is read from PNG, WebP and TIFF files alone",
                remedy: "save it as one of these")
        }
        let (width, height) = try readSize()
        return (width, height, try decode(channels: 4, scale: 1, width: width, height: height))
    }

    /// The samples of a PNG of one channel or with a palette, as they are stored; nil for other
    /// files.
    func decodeLevels() throws(ImageError) -> LevelImage? {
        let header = try checkedHeader()
        guard header.level_bits > 0 else { return nil }
        let levels: [UInt16] = try filled(Int(header.width) * Int(header.height)) {
            levels throws(ImageError) in
            try run {
                codec_png_decode_levels(
                    bytes, bytes.count, header.width, header.height, levels, $0)
            }
        }
        return LevelImage(
            width: Int(header.width), height: Int(header.height), levels: levels,
            bitDepth: Int(header.level_bits), areIndices: header.palette)
    }

    /// The width and height that the file states, which are within the limits.
    func readSize() throws(ImageError) -> (width: Int, height: Int) {
        let header = try checkedHeader()
        return (Int(header.width), Int(header.height))
    }

    /// The header of an image that is within the limits.
    private func checkedHeader() throws(ImageError) -> CodecHeader {
        let header = try readHeader()
        try limits.check(width: Int(header.width), height: Int(header.height), file: file)
        guard !header.animated else {
            throw ImageError(
                .format, file, "it is an animation", remedy: "save one frame as an image")
        }
        return header
    }

    private func readHeader() throws(ImageError) -> CodecHeader {
        if format == .bmp {
            let bitmap = try bitmap()
            var header = CodecHeader()
            header.width = UInt32(clamping: bitmap.width)
            header.height = UInt32(clamping: bitmap.height)
            return header
        }
        var header = CodecHeader()
        try run { message in
            switch format {
            case .jpeg: codec_jpeg_read_header(bytes, bytes.count, &header, message)
            case .png: codec_png_read_header(bytes, bytes.count, &header, message)
            case .webp: codec_webp_read_header(bytes, bytes.count, &header, message)
            case .tiff: codec_tiff_read_header(bytes, bytes.count, &header, message)
            case .gif: codec_gif_read_header(bytes, bytes.count, &header, message)
            case .heif: codec_heif_read_header(bytes, bytes.count, &header, message)
            case .bmp: preconditionFailure("read above")
            }
        }
        return header
    }

    /// The largest of 8, 4, 2 and 1 that keeps the shorter side at `minimumSide` pixels.
    private func scale(_ width: Int, _ height: Int, minimumSide: Int?) -> Int {
        guard format == .jpeg, let minimumSide else { return 1 }
        let side = min(width, height)
        return [8, 4, 2].first { (side + $0 - 1) / $0 >= max(minimumSide, 1) } ?? 1
    }

    private func decode(
        channels: Int, scale: Int, width: Int, height: Int
    ) throws(ImageError) -> [UInt8] {
        if format == .bmp { return try pixelsOfBitmap() }
        return try filled(channels * width * height) { pixels throws(ImageError) in
            try decode(UInt32(channels), scale, UInt32(width), UInt32(height), into: pixels)
        }
    }

    private func decode(
        _ channels: UInt32, _ scale: Int, _ width: UInt32, _ height: UInt32,
        into pixels: UnsafeMutablePointer<UInt8>
    ) throws(ImageError) {
        try run { message in
            switch format {
            case .jpeg:
                codec_jpeg_decode(
                    bytes, bytes.count, UInt32(scale), Int32(clamping: limits.maximumScans), width,
                    height, pixels, message)
            case .png:
                codec_png_decode(bytes, bytes.count, channels, width, height, pixels, message)
            case .webp:
                codec_webp_decode(bytes, bytes.count, channels, width, height, pixels, message)
            case .tiff:
                codec_tiff_decode(bytes, bytes.count, channels, width, height, pixels, message)
            case .gif: codec_gif_decode(bytes, bytes.count, width, height, pixels, message)
            case .heif: codec_heif_decode(bytes, bytes.count, width, height, pixels, message)
            case .bmp: preconditionFailure("read by pixelsOfBitmap")
            }
        }
    }

    private func bitmap() throws(ImageError) -> Bitmap {
        do { return try Bitmap(bytes) } catch { throw damage(error.reason) }
    }

    private func pixelsOfBitmap() throws(ImageError) -> [UInt8] {
        let bitmap = try bitmap()
        do { return try bitmap.pixels() } catch { throw damage(error.reason) }
    }

    private func run(_ body: (UnsafeMutablePointer<CChar>) -> Bool) throws(ImageError) {
        guard let message = codecMessage(body) else { return }
        throw damage(message)
    }

    private func damage(_ reason: String) -> ImageError {
        ImageError(
            .damaged, file, "cannot be decoded: \(reason)", remedy: "open and save it again")
    }
}

/// Calls a C function that returns whether it succeeded. Returns its message if it did not.
func codecMessage(_ body: (UnsafeMutablePointer<CChar>) -> Bool) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(CODEC_MESSAGE_SIZE)) { buffer in
        buffer.initialize(repeating: 0)
        return body(buffer.baseAddress!) ? nil : String(cString: buffer.baseAddress!)
    }
}
